// How a point of an image becomes the inputs of a CPPN.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inputsOf } from "../../web/views/square.js";

const at = (...names) => inputsOf(names)?.at(0.6, -0.8);

test("two inputs are x and y", () => {
  assert.deepEqual(at("input 1", "input 2"), [0.6, -0.8]);
});

test("a third is the distance from the middle, or a bias if it is called so", () => {
  assert.deepEqual(at("input 1", "input 2", "input 3"), [0.6, -0.8, 1]);
  assert.deepEqual(at("x", "y", "d"), [0.6, -0.8, 1]);
  assert.deepEqual(inputsOf(["x", "y", "bias"]).at(0.3, 0.4), [0.3, 0.4, 1]);
  assert.deepEqual(inputsOf(["x", "y", "r"]).at(0.3, 0.4), [0.3, 0.4, 0.5]);
});

test("four are an image only by their names", () => {
  assert.deepEqual(inputsOf(["x", "y", "d", "bias"]).at(0.3, 0.4), [0.3, 0.4, 0.5, 1]);
  assert.deepEqual(inputsOf(["x", "y", "bias", "d"]).at(0.3, 0.4), [0.3, 0.4, 1, 0.5]);
  assert.equal(inputsOf(["a", "b", "c", "d"]), null);
  assert.equal(inputsOf(["x"]), null);
});
