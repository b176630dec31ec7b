// A network as the engine laid it out, at a size: where its neurons and connections stand on a canvas. The
// curves are those of neat_onnx/drawing/svg.py.

const [NAMES, EDGE] = [104, 30]; // px beside the first and last column, with names and without
const [TOP, BOTTOM] = [34, 22];
const MOST = [130, 92]; // px of a row's unit across and down, so that small networks do not sprawl
const CELL = 0.62; // of a grid, as in neat_onnx/drawing/layout.py
export const LABELLED = 44; // px between two rows from which on hidden neurons have labels

/** What there is to draw of an answer of the engine, at no size yet. */
export function sceneOf({ neurons, connections, places, layers, columns, width, height }) {
  const [into, from, gates] = [neurons.map(() => []), neurons.map(() => []), neurons.map(() => [])];
  const layer = neurons.map(() => "");
  layers.forEach(({ label, neurons: inside }) => inside.forEach((neuron) => { layer[neuron] = label; }));
  const routes = connections.map(({ source, target, gater, first }, place) => {
    into[target].push(place);
    from[source].push(place);
    if (gater >= 0) gates[gater].push(place);
    const end = connections[place + 1]?.first ?? places.length;
    return [[neurons[source].x, neurons[source].y], ...places.slice(first, end), [neurons[target].x, neurons[target].y]];
  });
  return { neurons, connections, layers, layer, columns, width, height, routes, into, from, gates, at: [], curves: [] };
}

/** Give the scene a size and a zoom: places, curves and the radius of a neuron, in px from the drawing's corner. */
export function measure(scene, width, height, zoom = 1) {
  const aside = width >= 460 ? NAMES : width >= 340 ? 88 : EDGE;
  const across = Math.min(MOST[0], (width - 2 * aside) / Math.max(scene.width, 0.5)) * zoom;
  const down = Math.min(MOST[1], (height - TOP - BOTTOM) / Math.max(scene.height, 0.5)) * zoom;
  const left = (width * zoom - across * scene.width) / 2;
  const top = TOP + Math.max(0, ((height - TOP - BOTTOM) * zoom - down * scene.height) / 2);
  const place = ([x, y]) => [left + x * across, top + y * down];
  const full = Math.min(11, 0.3 * down, 0.12 * across * (scene.columns > 1 ? scene.width / (scene.columns - 1) : 9));
  Object.assign(scene, { named: aside >= 76, aside, pitch: down, radius: Math.max(1.8, full) });
  scene.at = scene.neurons.map(({ x, y }) => place([x, y]));
  scene.sizes = scene.neurons.map(({ cell }) => (cell ? Math.max(1.5, Math.min(full, CELL * 0.42 * down, CELL * 0.42 * across)) : scene.radius));
  scene.curves = scene.routes.map((route, number) => curvesOf(route.map(place), scene.connections[number], down));
  scene.paths = scene.curves.map(pathOf);
  scene.boxes = scene.layers.map((layer) => boxOf(layer, scene));
}

/** The cubic curves of a connection, one between every two of its points: [x1, y1, …, x4, y4]. */
function curvesOf(points, { source, target, twin }, pitch) {
  const last = points.length - 2;
  const reach = Math.max(12, pitch);
  if (source === target) {
    const [[x, y]] = points;
    const loop = Math.max(16, (1.3 + 0.4 * twin) * Math.min(pitch, 26));
    return [[x, y, x + loop, y - loop, x - loop, y - loop, x, y]];
  }
  return points.slice(1).map(([x2, y2], place) => {
    const [x1, y1] = points[place];
    const bend = place === last ? twin * 0.9 * pitch : 0;
    if (Math.abs(x2 - x1) < 0.5) {
      const side = last === 0 ? Math.sign(y2 - y1) || 1 : place === 0 ? 1 : -1;
      const out = side * (Math.min(reach, 26) + bend + (last === 0 ? 0.3 * Math.abs(y2 - y1) : 0));
      return [x1, y1, x1 + out, y1, x2 + out, y2, x2, y2];
    }
    const middle = (x1 + x2) / 2;
    return [x1, y1, middle, y1 + bend, middle, y2 + bend, x2, y2];
  });
}

function pathOf(curves) {
  const path = new Path2D();
  path.moveTo(...curves[0]);
  for (const [, , ...rest] of curves) path.bezierCurveTo(...rest);
  return path;
}

/** The point of a cubic curve at t, from 0 to 1. */
export function pointOf([x1, y1, x2, y2, x3, y3, x4, y4], t) {
  const s = 1 - t;
  const along = (a, b, c, d) => s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
  return [along(x1, x2, x3, x4), along(y1, y2, y3, y4)];
}

/** The outline of a layer: around its neurons column by column, so that it holds no others. */
function boxOf({ label, neurons }, { neurons: all, at, radius }) {
  const pad = radius + 5;
  const columns = new Map();
  for (const neuron of neurons) {
    const [x, y] = at[neuron];
    const [left, top, right, bottom] = columns.get(all[neuron].column) ?? [x, y, x, y];
    columns.set(all[neuron].column, [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)]);
  }
  const sides = [...columns].sort(([a], [b]) => a - b).map(([, side]) => side);
  const upper = sides.flatMap(([left, top, right]) => [[left - pad, top - pad], [right + pad, top - pad]]);
  const lower = sides.flatMap(([left, , right, bottom]) => [[left - pad, bottom + pad], [right + pad, bottom + pad]]);
  const [x, y] = upper.reduce((best, corner) => (corner[1] < best[1] ? corner : best));
  return { label, outline: [...upper, ...lower.reverse()], top: [x, y] };
}

/** What of one scene is not in another: {neurons, edges} of genes that are gone or have another value in float32. */
export function differing(one, other) {
  const [mine, theirs] = [genesOf(one), genesOf(other)];
  const apart = (kind) => {
    const known = new Set(theirs[kind]);
    return mine[kind].flatMap((gene, place) => (known.has(gene) ? [] : [place]));
  };
  return { neurons: apart("neurons"), edges: apart("connections") };
}

const genesOf = ({ neurons, connections }) => ({
  neurons: neurons.map(({ id, kind, activation, aggregation, bias, response }) => [id, kind, activation, aggregation, Math.fround(bias), Math.fround(response)].join()),
  connections: connections.map(({ source, target, delay, weight, enabled, gater }) => [
    neurons[source].id, neurons[target].id, delay, Math.fround(weight), enabled, neurons[gater]?.id].join()),
});

/** The neuron at a point, or -1. */
export function nearest({ at, radius }, x, y) {
  let [best, found] = [(radius + 8) ** 2, -1];
  for (let neuron = 0; neuron < at.length; neuron += 1) {
    const distance = (at[neuron][0] - x) ** 2 + (at[neuron][1] - y) ** 2;
    if (distance < best) [best, found] = [distance, neuron];
  }
  return found;
}

/** The neuron next to another in a direction: [dx, dy] of -1, 0 or 1. */
export function neighbour({ at }, neuron, [dx, dy]) {
  const [x, y] = at[neuron];
  const cost = (place) => {
    const [across, down] = [(at[place][0] - x) * (dx || 1), (at[place][1] - y) * (dy || 1)];
    if (dx) return across > 0.5 ? across * 3 + Math.abs(down) : Infinity;
    return Math.abs(across) < 0.5 && down > 0.5 ? down : Infinity;
  };
  let best = neuron;
  at.forEach((_, place) => {
    if (place !== neuron && cost(place) < (best === neuron ? Infinity : cost(best))) best = place;
  });
  return best;
}

/** The connections of a neuron, those that it gates included, and the neurons at their ends. */
export function touching({ connections, into, from, gates }, neuron) {
  const edges = new Set([...into[neuron], ...from[neuron], ...gates[neuron]]);
  const neurons = new Set([neuron]);
  for (const edge of edges) {
    const { source, target } = connections[edge];
    neurons.add(source).add(target);
  }
  return { neurons, edges };
}

/** All neurons and connections that lead to a neuron, or that it leads to, gates included. */
export function reached({ connections, into, from, gates }, neuron) {
  const [neurons, edges] = [new Set([neuron]), new Set()];
  const walk = (lists, next) => {
    const seen = new Set([neuron]);
    for (const place of seen) {
      for (const edge of lists(place)) {
        if (!connections[edge].enabled) continue;
        edges.add(edge);
        for (const other of next(connections[edge])) {
          seen.add(other);
          neurons.add(other);
        }
      }
    }
  };
  walk((place) => into[place], ({ source, gater }) => (gater >= 0 ? [source, gater] : [source]));
  walk((place) => [...from[place], ...gates[place]], ({ target }) => [target]);
  return { neurons, edges };
}
