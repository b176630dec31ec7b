// A network laid out: where its neurons and connections stand on a canvas, and which are near a point.
import { boxesOf, layerOf } from "./boxes.js";
import { layout } from "./layout.js";

const MARGIN = 24;
const LABEL = 112; // px beside the first and last column, if names are drawn

/** What there is to draw of {neurons, connections, layers}, at no size yet. */
export function sceneOf({ neurons, connections, layers = [] }) {
  const [into, from] = [neurons.map(() => []), neurons.map(() => [])];
  connections.forEach(({ source, target }, place) => {
    into[target].push(place);
    from[source].push(place);
  });
  const layer = layerOf(neurons, layers);
  return { neurons, connections, layers, layer, into, from, ...layout(neurons, connections, layer), at: [], curves: [] };
}

/** Give the scene a size: places, curves and the radius of a neuron. */
export function measure(scene, width, height) {
  const gapY = (height - 40) / scene.rows;
  scene.named = gapY >= 13 && width >= 520;
  const margin = scene.named ? LABEL : MARGIN;
  const gapX = scene.columns > 1 ? (width - 2 * margin) / (scene.columns - 1) : width;
  scene.radius = Math.max(1.5, Math.min(10, gapY * 0.36, gapX * 0.3));
  scene.at = scene.x.map((x, neuron) => [margin + x * (width - 2 * margin), 20 + scene.y[neuron] * (height - 40)]);
  scene.curves = scene.connections.map((connection) => curveOf(scene, connection));
  scene.paths = scene.curves.map(pathOf);
  scene.bundles = [];
  scene.boxes = boxesOf(scene);
}

/** Two ends and two controls: forwards a gentle S, in a column a bow, backwards an arc, to itself a loop. */
function curveOf({ at, radius }, { source, target }) {
  const [[x1, y1], [x2, y2]] = [at[source], at[target]];
  if (source === target) {
    const reach = Math.max(14, radius * 3.2);
    return [x1, y1, x1 + reach, y1 - reach, x1 - reach, y1 - reach, x1, y1];
  }
  if (x2 > x1) {
    const reach = (x2 - x1) * 0.5;
    return [x1, y1, x1 + reach, y1, x2 - reach, y2, x2, y2];
  }
  if (x2 === x1) {
    const reach = (12 + Math.abs(y2 - y1) * 0.35) * Math.sign(y2 - y1);
    return [x1, y1, x1 + reach, y1, x2 + reach, y2, x2, y2];
  }
  const [out, down] = [radius + 14, Math.min(70, 16 + (x1 - x2) * 0.2)];
  return [x1, y1, x1 + out, y1 + down, x2 - out, y2 + down, x2, y2];
}

function pathOf([x1, y1, ...rest]) {
  const path = new Path2D();
  path.moveTo(x1, y1);
  path.bezierCurveTo(...rest);
  return path;
}

/** The path of a connection as so many lines beside each other, one pixel apart. */
export function sideBySide(scene, place, number) {
  if (number === 1) return scene.paths[place];
  const bundle = (scene.bundles[place] ??= []);
  bundle[number] ??= joined(scene.curves[place], number);
  return bundle[number];
}

function joined(curve, number) {
  const [x1, y1, x2, y2, x3, y3, x4, y4] = curve;
  const [dx, dy] = [x4 + x3 - x2 - x1, y4 + y3 - y2 - y1]; // its direction in the middle
  const length = Math.hypot(dx, dy) || 1;
  const path = new Path2D();
  for (let line = 0; line < number; line += 1) {
    const away = line - (number - 1) / 2;
    path.addPath(pathOf(curve.map((value, index) => value + (away * (index % 2 ? dx : -dy)) / length)));
  }
  return path;
}

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

/** All neurons and connections that lead to a neuron (`into`), or that it leads to (`from`). */
export function reached({ connections, into, from }, neuron) {
  const [neurons, edges] = [new Set([neuron]), new Set()];
  const walk = (lists, next) => {
    const seen = new Set([neuron]);
    for (const place of seen) {
      for (const edge of lists[place]) {
        if (!connections[edge].enabled) continue;
        edges.add(edge);
        seen.add(connections[edge][next]);
        neurons.add(connections[edge][next]);
      }
    }
  };
  walk(into, "source");
  walk(from, "target");
  return { neurons, edges };
}
