// Where each neuron stands: columns by columns.js, rows ordered so that few connections cross.

import { columnsOf } from "./columns.js";

const SWEEPS = 12;

/**
 * Places in the unit square, inputs at x = 0, outputs at x = 1.
 * @param neurons [{level, kind}]
 * @param connections [{source, target}], positions in `neurons`
 * @param layer for each neuron, what it stands together with in its column; -1 for nothing
 * @returns {x: number[], y: number[], columns: number, rows: number} rows: the tallest column
 */
export function layout(neurons, connections, layer = neurons.map(() => -1)) {
  const column = columnsOf(neurons, connections);
  const columns = group(column);
  const { before, after } = neighbours(neurons.length, connections, column);
  const place = new Float64Array(neurons.length);
  const assignRows = (members) => members.forEach((neuron, row) => {
    place[neuron] = (row + 0.5) / members.length;
  });
  columns.forEach(assignRows);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const forwards = sweep % 2 === 0;
    const order = forwards ? columns.slice(1) : columns.slice(0, -1).reverse();
    for (const members of order) {
      sortBy(members, (neuron) => mean(forwards ? before[neuron] : after[neuron], place, neuron), layer);
      assignRows(members);
    }
  }
  const rows = Math.max(...columns.map((members) => members.length));
  const x = Array.from(column, (index) => (columns.length > 1 ? index / (columns.length - 1) : 0.5));
  return { x, y: spread(columns, rows, neurons.length), columns: columns.length, rows };
}

function group(column) {
  const columns = [];
  column.forEach((index, neuron) => (columns[index] ??= []).push(neuron));
  return columns;
}

function neighbours(size, connections, column) {
  const before = Array.from({ length: size }, () => []);
  const after = Array.from({ length: size }, () => []);
  for (const { source, target } of connections) {
    if (column[source] >= column[target]) continue;
    before[target].push(source);
    after[source].push(target);
  }
  return { before, after };
}

const mean = (others, place, neuron) => (others.length
  ? others.reduce((sum, other) => sum + place[other], 0) / others.length
  : place[neuron]);

/** Sort by a key; those of one layer stand together, where the mean of their keys is. */
function sortBy(members, key, layer) {
  const keys = new Map(members.map((neuron) => [neuron, key(neuron)]));
  const sums = new Map();
  for (const neuron of members) {
    const [sum, number] = sums.get(layer[neuron]) ?? [0, 0];
    sums.set(layer[neuron], [sum + keys.get(neuron), number + 1]);
  }
  const outer = (neuron) => {
    if (layer[neuron] < 0) return keys.get(neuron);
    const [sum, number] = sums.get(layer[neuron]);
    return sum / number;
  };
  members.sort((a, b) => outer(a) - outer(b) || layer[a] - layer[b] || keys.get(a) - keys.get(b));
}

/** Rows of a short column stand further apart than those of the tallest, up to a limit. */
function spread(columns, rows, size) {
  const y = new Array(size);
  for (const members of columns) {
    const gap = Math.min(1 / members.length, 2.2 / rows);
    members.forEach((neuron, row) => { y[neuron] = 0.5 + (row - (members.length - 1) / 2) * gap; });
  }
  return y;
}
