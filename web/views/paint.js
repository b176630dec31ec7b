// A laid-out network on a canvas. Colours come from style.css, so they follow the theme.
import { family } from "./palette.js";

const FAMILIES = ["sigmoid", "tanh", "rectifier", "wave", "step", "curve", "linear", "other"];

/** Draw `scene` as wide as the canvas stands; notes each neuron's place in `scene.at`. */
export function paint(canvas, scene, pointed) {
  const width = canvas.parentElement.clientWidth;
  if (!width) return;
  const height = Math.round(Math.min(620, Math.max(200, width * 0.36, scene.rows * 24 + 40)));
  const scale = Math.min(devicePixelRatio || 1, 3);
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  measure(scene, width, height);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const colours = readColours(canvas);
  drawConnections(pen, scene, colours, pointed);
  drawNeurons(pen, scene, colours, pointed);
}

function measure(scene, width, height) {
  const gapY = (height - 40) / scene.rows;
  const gapX = scene.columns > 1 ? (width - 48) / (scene.columns - 1) : width;
  scene.radius = Math.max(1.5, Math.min(9, gapY * 0.36, gapX * 0.3));
  scene.at = scene.x.map((x, neuron) => [24 + x * (width - 48), 20 + scene.y[neuron] * (height - 40)]);
}

function readColours(canvas) {
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["card", "ink", "soft", "line", "positive", "negative"];
  const tints = FAMILIES.map((name) => [name, colour(`tint-${name}`)]);
  return { ...Object.fromEntries(names.map((name) => [name, colour(name)])), ...Object.fromEntries(tints) };
}

function drawConnections(pen, scene, colours, pointed) {
  const { connections } = scene;
  const sizes = connections.map(({ weight }) => Math.abs(weight)).sort((a, b) => a - b);
  const heavy = sizes[Math.floor(sizes.length * 0.95)] || 1;
  const crowd = Math.min(1, 18 / Math.sqrt(connections.length + 1));
  const touches = ({ source, target }) => pointed < 0 || source === pointed || target === pointed;
  const order = [...connections].sort((a, b) => touches(a) - touches(b) || Math.abs(a.weight) - Math.abs(b.weight));
  for (const connection of order) {
    const strength = Math.min(1, Math.abs(connection.weight) / heavy);
    const { enabled, weight, delay } = connection;
    pen.globalAlpha = touches(connection) ? (pointed >= 0 ? 0.95 : (0.3 + 0.6 * strength) * (0.35 + 0.65 * crowd)) : 0.06;
    pen.strokeStyle = enabled ? (weight < 0 ? colours.negative : colours.positive) : colours.soft;
    pen.lineWidth = enabled ? 0.6 + 2.6 * strength * (0.4 + 0.6 * crowd) : 1;
    pen.setLineDash(enabled ? (delay ? [6, 4] : []) : [1.5, 4]);
    pen.stroke(curve(scene, connection));
  }
  pen.globalAlpha = 1;
  pen.setLineDash([]);
}

/** Forwards a gentle S; within a column a bow; backwards an arc below; to itself a loop on top. */
function curve({ at, radius }, { source, target }) {
  const [[x1, y1], [x2, y2]] = [at[source], at[target]];
  const path = new Path2D();
  path.moveTo(x1, y1);
  if (source === target) {
    const reach = Math.max(14, radius * 3.2);
    path.bezierCurveTo(x1 + reach, y1 - reach, x1 - reach, y1 - reach, x1, y1);
  } else if (x2 > x1) {
    const reach = (x2 - x1) * 0.5;
    path.bezierCurveTo(x1 + reach, y1, x2 - reach, y2, x2, y2);
  } else if (x2 === x1) {
    const reach = (12 + Math.abs(y2 - y1) * 0.35) * Math.sign(y2 - y1);
    path.bezierCurveTo(x1 + reach, y1, x2 + reach, y2, x2, y2);
  } else {
    const [out, down] = [radius + 14, Math.min(70, 16 + (x1 - x2) * 0.2)];
    path.bezierCurveTo(x1 + out, y1 + down, x2 - out, y2 + down, x2, y2);
  }
  return path;
}

function drawNeurons(pen, { neurons, connections, at, radius }, colours, pointed) {
  const near = new Set([pointed]);
  for (const { source, target } of connections) {
    if (source === pointed) near.add(target);
    if (target === pointed) near.add(source);
  }
  neurons.forEach(({ kind, activation }, neuron) => {
    const [x, y] = at[neuron];
    const input = kind === "input";
    pen.globalAlpha = pointed < 0 || near.has(neuron) ? 1 : 0.25;
    disc(pen, x, y, radius + Math.min(1.5, radius * 0.3), colours.card); // a halo keeps lines off
    disc(pen, x, y, radius, input ? colours.card : colours[family(activation)]);
    pen.lineWidth = Math.min(1.8, radius * 0.35);
    pen.strokeStyle = colours.ink;
    if (input) ring(pen, x, y, radius - pen.lineWidth / 2);
    if (kind === "output") ring(pen, x, y, radius + Math.min(3, radius * 0.6));
  });
  pen.globalAlpha = 1;
}

function disc(pen, x, y, radius, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
}

function ring(pen, x, y, radius) {
  pen.beginPath();
  pen.arc(x, y, Math.max(0.5, radius), 0, 2 * Math.PI);
  pen.stroke();
}
