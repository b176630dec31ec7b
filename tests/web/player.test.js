// Playing: steps, the past, and what is forgotten.
import assert from "node:assert/strict";
import test from "node:test";
import { Evaluator } from "../../web/live/evaluator.js";
import { Player } from "../../web/live/player.js";

const bytes = (array) => new Uint8Array(array.buffer);
const ints = (...values) => bytes(Int32Array.from(values));
const floats = (...values) => bytes(Float64Array.from(values));

/** a(t) = x(t) + a(t − 1), a sum of all inputs so far; without `memory`, a(t) = x(t). */
function summing(memory) {
  const edges = memory ? 2 : 1;
  return new Player(new Evaluator({ activations: ["z"], aggregations: [], past: memory ? 1 : 0 }, {
    order: ints(1), inputs: ints(0), outputs: ints(1), activation: ints(0, 0), aggregation: ints(-1, -1),
    first: ints(0, 0, edges), source: ints(...[0, 1].slice(0, edges)), delay: ints(...[0, 1].slice(0, edges)),
    state: ints(...[0, 0].slice(0, edges)), gater: ints(...[-1, -1].slice(0, edges)), gate_delay: ints(...[0, 0].slice(0, edges)),
    bias: floats(0, 0), response: floats(1, 1), initial: floats(0, 0),
    weight: floats(...[1, 1].slice(0, edges)), initial_gain: floats(...[0, 0].slice(0, edges)),
  }));
}

test("inputs act at once, and each step remembers", () => {
  const player = summing(true);
  player.give([2]);
  assert.deepEqual(player.frame.outputs, [2]);
  player.give([3]); // the same step, taken anew
  assert.deepEqual(player.frame.outputs, [3]);
  player.step();
  player.give([10]);
  assert.deepEqual([player.frame.number, player.frame.outputs], [2, [13]]);
});

test("looking back brings the inputs of that step back; a change there forgets what came after", () => {
  const player = summing(true);
  for (const value of [1, 2, 3]) {
    player.give([value]);
    if (value < 3) player.step();
  }
  player.look(0);
  assert.deepEqual([[...player.inputs], player.frame.outputs, player.flow(0)], [[1], [1], 1]);
  player.give([5]);
  assert.equal(player.frames.length, 1);
  player.step();
  assert.deepEqual(player.frame.outputs, [10]);
});

test("of a long past the oldest steps are forgotten, and the first that is kept stays what it was", () => {
  const player = summing(true);
  player.give([1]);
  while (!player.forgotten) player.step();
  player.look(0);
  assert.deepEqual([player.frame.number, player.frame.outputs, player.flow(1)], [2, [2], 1]);
  player.give([5]);
  assert.deepEqual(player.frame.outputs, [6]);
});

test("without memory every step is the first", () => {
  const player = summing(false);
  player.give([4]);
  player.step();
  assert.deepEqual(player.frame.outputs, [4]);
  assert.equal(player.hasMemory, false);
});

test("probing changes nothing that is looked at", () => {
  const player = summing(true);
  player.give([2]);
  player.step();
  assert.deepEqual(player.probe([7]), [7]);
  player.resume();
  assert.deepEqual([player.flow(0), player.flow(1)], [2, 2]);
  player.step();
  assert.deepEqual(player.frame.outputs, [6]);
});

test("nobody has played with it before it is given something", () => {
  const player = summing(true);
  assert.equal(player.touched, false);
  let heard = 0;
  const end = player.listen(() => { heard += 1; });
  player.give([1]);
  end();
  player.give([2]);
  assert.deepEqual([player.touched, heard], [true, 1]);
});
