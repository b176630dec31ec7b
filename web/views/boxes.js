// Boxes around neurons that belong together: a convolution, a pool, a layer of recurrent cells.

/** For each neuron, the place of its layer among `layers` [{label, neurons}]; -1 if it is in none. */
export function layerOf(neurons, layers) {
  const found = neurons.map(() => -1);
  layers.forEach((layer, place) => layer.neurons.forEach((neuron) => { found[neuron] = place; }));
  return found;
}

/**
 * The outline of each layer: around its neurons column by column, so that it holds no others.
 * @returns [{label, outline: [[x, y], …], top: [x, y]}] top: where the label stands
 */
export function boxesOf({ layers, at, radius }) {
  const pad = radius + 5;
  return layers.map(({ label, neurons }) => {
    const columns = new Map();
    for (const neuron of neurons) {
      const [x, y] = at[neuron];
      const [low, high] = columns.get(x) ?? [y, y];
      columns.set(x, [Math.min(low, y), Math.max(high, y)]);
    }
    const sides = [...columns].sort(([a], [b]) => a - b);
    const upper = sides.flatMap(([x, [low]]) => [[x - pad, low - pad], [x + pad, low - pad]]);
    const lower = sides.flatMap(([x, [, high]]) => [[x - pad, high + pad], [x + pad, high + pad]]).reverse();
    const [x, y] = upper.reduce((best, corner) => (corner[1] < best[1] ? corner : best));
    return { label, outline: [...upper, ...lower], top: [x, y] };
  });
}

/** The middle of a curve, where its gate acts. */
export const middle = ([x1, y1, x2, y2, x3, y3, x4, y4]) => [(x1 + 3 * x2 + 3 * x3 + x4) / 8, (y1 + 3 * y2 + 3 * y3 + y4) / 8];
