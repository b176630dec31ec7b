// Where neurons stand: columns from inputs to outputs, in the unit square.
import assert from "node:assert/strict";
import test from "node:test";
import { columnsOf } from "../../web/views/columns.js";
import { layout } from "../../web/views/layout.js";

const neuron = (level, kind = "hidden") => ({ level, kind });
const edge = (source, target, delay = 0, enabled = true) => ({ source, target, delay, enabled, weight: 1 });

test("inputs are first, outputs last, hidden neurons after what they read", () => {
  const neurons = [neuron(0, "input"), neuron(1), neuron(2), neuron(2, "output")];
  const connections = [edge(0, 1), edge(1, 2), edge(1, 3)];
  assert.deepEqual(columnsOf(neurons, connections), [0, 1, 2, 3]);
});

test("where every connection is delayed, the distance from the inputs counts", () => {
  const neurons = [neuron(0, "input"), neuron(1), neuron(1), neuron(1, "output")];
  const connections = [edge(0, 1, 1), edge(1, 2, 1), edge(2, 3, 1)];
  assert.deepEqual(columnsOf(neurons, connections), [0, 1, 2, 3]);
});

test("a disabled connection moves nothing", () => {
  const neurons = [neuron(0, "input"), neuron(1), neuron(1), neuron(2, "output")];
  const connections = [edge(0, 1), edge(0, 2), edge(1, 2, 0, false), edge(2, 3)];
  assert.deepEqual(columnsOf(neurons, connections), [0, 1, 1, 2]);
});

test("everything stands in the unit square, and no two neurons in one place", () => {
  const neurons = [neuron(0, "input"), neuron(0, "input"), ...Array.from({ length: 7 }, () => neuron(1)), neuron(2, "output")];
  const connections = Array.from({ length: 7 }, (_, place) => [edge(place % 2, place + 2), edge(place + 2, 9)]).flat();
  const { x, y, columns, rows } = layout(neurons, connections);
  assert.deepEqual([columns, rows], [3, 7]);
  assert.ok([...x, ...y].every((value) => value >= 0 && value <= 1));
  assert.equal(new Set(x.map((value, place) => `${value} ${y[place]}`)).size, 10);
});

test("rows are ordered so that connections do not cross where they need not", () => {
  const neurons = [...[0, 0, 0].map((level) => neuron(level, "input")), neuron(1), neuron(1), neuron(1)];
  const { y } = layout(neurons, [edge(0, 5), edge(1, 4), edge(2, 3)]);
  const order = (a, b, c) => Math.sign(y[a] - y[b]) === Math.sign(y[b] - y[c]);
  assert.ok(order(0, 1, 2) && order(5, 4, 3));
  assert.equal(Math.sign(y[0] - y[2]), Math.sign(y[5] - y[3]));
});

test("the neurons of a layer stand next to each other", () => {
  const inputs = [0, 1, 2, 3, 4].map(() => neuron(0, "input"));
  const hidden = [0, 1, 2, 3, 4].map(() => neuron(1));
  const connections = [0, 1, 2, 3, 4].map((place) => edge(place, 5 + place));
  const layer = [-1, -1, -1, -1, -1, 0, -1, 0, -1, 0];
  const { y } = layout([...inputs, ...hidden], connections, layer);
  const order = [5, 6, 7, 8, 9].sort((a, b) => y[a] - y[b]).map((place) => layer[place]);
  assert.match(order.join(""), /000/);
});
