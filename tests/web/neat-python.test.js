// A genome and its configuration, which come one after the other, and what is forgotten in between.
import assert from "node:assert/strict";
import test from "node:test";
import { genomeMissing, isConfiguration, NeatPythonFiles } from "../../web/neat-python.js";

const NEEDED = { kind: "ConfigurationNeeded", message: "a genome does not say its inputs", where: "config" };
const BROKEN = { kind: "DocumentError", message: "invalid JSON" };
const file = (name) => ({ name, load: async () => name, genome: null, settings: {} });
const whole = (genome, configuration) => ({ ...genome, configuration: { name: configuration.name, load: configuration.load } });
const [a, b, configA, configB] = ["a.pkl", "b.pkl", "config-a", "config-b"].map(file);

test("either may come first", () => {
  const files = new NeatPythonFiles();
  assert.equal(files.completed(a, NEEDED), null);
  assert.deepEqual(files.completed(configA, genomeMissing), whole(a, configA));
  files.done();
  assert.equal(files.completed(configB, genomeMissing), null);
  assert.deepEqual(files.completed(b, NEEDED), whole(b, configB));
});

test("a configuration is that of one genome: the next one asks for its own", () => {
  const files = new NeatPythonFiles();
  files.completed(configA, genomeMissing);
  assert.deepEqual(files.completed(a, NEEDED), whole(a, configA));
  files.done();
  assert.equal(files.completed(b, NEEDED), null);
  assert.deepEqual(files.completed(configB, genomeMissing), whole(b, configB));
  files.done();
  assert.equal(files.completed(a, NEEDED), null);
});

test("a genome whose configuration was a wrong one takes another, and no other genome takes the wrong one", () => {
  const files = new NeatPythonFiles();
  files.completed(configB, genomeMissing);
  const wrong = files.completed(a, NEEDED);
  assert.equal(files.completed(wrong, { kind: "NetworkError", message: "no node 5" }), null);
  assert.deepEqual(files.completed(configA, genomeMissing), whole(a, configA));

  files.completed(wrong, { kind: "NetworkError", message: "no node 5" });
  assert.equal(files.completed(b, NEEDED), null);
});

test("a file of another kind ends the wait", () => {
  const files = new NeatPythonFiles();
  files.completed(configA, genomeMissing);
  assert.equal(files.completed(file("x.json"), BROKEN), null);
  assert.equal(files.completed(b, NEEDED), null);
  assert.equal(files.completed(file("x.json"), BROKEN), null);
  assert.equal(files.completed(configA, genomeMissing), null);

  files.done(); // another network was converted
  assert.equal(files.completed(b, NEEDED), null);
});

test("the newest of a kind counts", () => {
  const files = new NeatPythonFiles();
  files.completed(a, NEEDED);
  files.completed(b, NEEDED);
  assert.deepEqual(files.completed(configB, genomeMissing), whole(b, configB));
  files.done();
  files.completed(configA, genomeMissing);
  files.completed(configB, genomeMissing);
  assert.deepEqual(files.completed(b, NEEDED), whole(b, configB));
});

test("what was converted and then cancelled is not completed later", () => {
  const files = new NeatPythonFiles();
  files.completed(configA, genomeMissing);
  assert.ok(files.completed(a, NEEDED)); // and another file comes before it is done
  assert.equal(files.completed(configB, genomeMissing), null);
});

test("a configuration is known by its sections", () => {
  const bytes = (text) => new TextEncoder().encode(text).buffer;
  assert.ok(isConfiguration(bytes("# mine\n[NEAT]\npop_size = 5\n")));
  assert.ok(!isConfiguration(bytes('{"[NEAT]": 1}')));
  assert.ok(!isConfiguration(bytes("a = 1\n")));
});
