// A genome and its configuration, which come one after the other.
import assert from "node:assert/strict";
import test from "node:test";
import { completed, genomeMissing, isConfiguration, missingFileOf } from "../../web/neat-python.js";

const file = (name) => ({ name, load: name, genome: null, settings: {} });
const [genome, config] = ["a.pkl", "config-a"].map(file);
const whole = { ...genome, configuration: { name: "config-a", load: "config-a" } };

test("either may come first", () => {
  assert.deepEqual(completed(config, "genome", { asks: "configuration", wanted: genome }), whole);
  assert.deepEqual(completed(genome, "configuration", { asks: "genome", wanted: config }), whole);
});

test("the first of them is waited for, and a wrong configuration is not tried again", () => {
  assert.equal(completed(genome, "configuration", { asks: undefined, wanted: config }), null);
  assert.equal(completed(config, "genome", { asks: "genome", wanted: config }), null);
  assert.equal(completed(whole, "configuration", { asks: "genome", wanted: config }), null);
});

test("an error says which file is missing", () => {
  assert.equal(missingFileOf(genomeMissing), "genome");
  assert.equal(missingFileOf({ kind: "ConfigurationNeeded" }), "configuration");
  assert.equal(missingFileOf({ kind: "DocumentError" }), null);
});

test("a configuration is known by its sections", () => {
  const bytes = (text) => new TextEncoder().encode(text).buffer;
  assert.ok(isConfiguration(bytes("# mine\n[NEAT]\npop_size = 10\n")));
  assert.ok(isConfiguration(bytes("[DefaultGenome]\n")));
  assert.ok(!isConfiguration(bytes("{\"text\": \"\\n[NEAT]\"}")));
});
