// A scene painted on a canvas. Colours come from style.css, so they follow the theme.
import { LABELLED, pointOf } from "./scene.js";

export const FAMILIES = {
  input: "input", sigmoid: "sigmoid", tanh: "tanh-like", rectifier: "rectifiers", wave: "waves and bumps",
  step: "steps", curve: "other curves", linear: "linear",
};
const MOST_MARKED = 400; // connections whose sign is drawn as a bar too, and whose width says their strength
const LETTERS = 12; // of a hidden neuron's label
const FONT = "system-ui, sans-serif";

export function readColours(element) {
  const style = getComputedStyle(element);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["card", "ink", "soft", "line", "positive", "negative", "accent"];
  const tints = Object.keys(FAMILIES).map((name) => [name, colour(`tint-${name}`)]);
  return { ...Object.fromEntries(tints), ...Object.fromEntries(names.map((name) => [name, colour(name)])) };
}

/** How strong each connection is drawn, from -1 to 1: by its weight, or by what it carries now; and what 1 is. */
export function strengths({ connections }, player) {
  const values = connections.map(({ weight, edge, enabled }) => (player && enabled ? player.flow(edge) : weight));
  const sizes = values.map(Math.abs).filter(Number.isFinite).sort((a, b) => a - b);
  const heavy = sizes[Math.floor(sizes.length * (player ? 0.98 : 0.95))] || 1;
  return { strong: values.map((value) => Math.max(-1, Math.min(1, value / heavy || 0))), heavy };
}

/**
 * Draw connections, the weak ones first. Among many, all of one look are one path, and a line is one pixel wide
 * and fainter instead: without a graphics card that is by far the fastest.
 */
export function drawConnections(pen, scene, colours, places, strong, { live, lit = false, phase = -1 }) {
  const { connections } = scene;
  const many = connections.length > MOST_MARKED;
  const crowd = Math.min(1, 18 / Math.sqrt(connections.length + 1));
  const looks = new Map();
  for (const place of places) {
    const { enabled, delay } = connections[place];
    const size = enabled ? Math.ceil(Math.abs(strong[place]) * 6) : -1;
    const key = `${size} ${enabled && strong[place] < 0} ${enabled && delay > 0}`;
    if (!looks.has(key)) looks.set(key, { size, negative: enabled && strong[place] < 0, late: enabled && delay > 0, places: [] });
    looks.get(key).places.push(place);
  }
  for (const { size, negative, late, places: some } of [...looks.values()].sort((a, b) => a.size - b.size)) {
    const strength = Math.max(0, size) / 6;
    const faint = live ? 0.05 + 0.95 * strength : (0.28 + 0.62 * strength) * (0.35 + 0.65 * crowd);
    pen.strokeStyle = size < 0 ? colours.soft : negative ? colours.negative : colours.positive;
    pen.lineWidth = size < 0 || many ? (strength > 0.8 ? 2 : 1) : 0.6 + 2.8 * strength;
    pen.globalAlpha = lit ? 0.95 : size < 0 ? 0.5 : faint;
    pen.setLineDash(size < 0 ? [1.5, 4] : late ? [6, 4] : []);
    strokeAll(pen, scene, some);
    if (negative && !many) bars(pen, scene, some);
    if (phase >= 0 && size > 0) for (const place of some) pulse(pen, scene.curves[place], phase, 1 + 2 * strength);
  }
  pen.globalAlpha = 1;
  pen.setLineDash([]);
}

function strokeAll(pen, { paths }, places) {
  const all = new Path2D();
  for (const place of places) all.addPath(paths[place]);
  pen.stroke(all);
}

/** Draw all connections as plain lines, while neurons move. */
export function drawStraight(pen, { connections, at }, colours) {
  pen.strokeStyle = colours.line;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const { source, target, enabled } of connections) {
    if (!enabled) continue;
    pen.moveTo(...at[source]);
    pen.lineTo(...at[target]);
  }
  pen.stroke();
}

/** The bars across connections that say negative without a colour. */
function bars(pen, { curves }, places) {
  pen.setLineDash([]);
  pen.beginPath();
  for (const place of places) {
    const curve = curves[place].at(-1);
    const [[x, y], [x1, y1], [x2, y2]] = [pointOf(curve, 0.5), pointOf(curve, 0.45), pointOf(curve, 0.55)];
    const size = 4 / (Math.hypot(x2 - x1, y2 - y1) || 1);
    pen.moveTo(x - (y2 - y1) * size, y + (x2 - x1) * size);
    pen.lineTo(x + (y2 - y1) * size, y - (x2 - x1) * size);
  }
  pen.stroke();
}

function pulse(pen, curves, phase, size) {
  const along = phase * curves.length;
  const [x, y] = pointOf(curves[Math.floor(along)], along % 1);
  disc(pen, x, y, size, pen.strokeStyle);
}

/** Draw a box around each layer, under everything else. */
export function drawBoxes(pen, { boxes, named }, colours) {
  pen.lineJoin = "round";
  for (const { outline, top: [x, y], label } of boxes) {
    pen.beginPath();
    outline.forEach((corner, place) => (place ? pen.lineTo(...corner) : pen.moveTo(...corner)));
    pen.closePath();
    pen.globalAlpha = 0.1;
    pen.fillStyle = colours.accent;
    pen.fill();
    pen.globalAlpha = 0.55;
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 1;
    pen.stroke();
    pen.globalAlpha = 1;
    if (named || boxes.length <= 4) write(pen, label, x, Math.max(12, y - 4), { colour: colours.soft, font: `600 11px ${FONT}` });
  }
}

/** Draw a diamond on each connection with a gate, and a thread to the neuron that is its gate. */
export function drawGates(pen, { connections, curves, at }, colours, places) {
  for (const place of places) {
    const { gater, enabled } = connections[place];
    if (gater < 0 || !enabled) continue;
    const [x, y] = pointOf(curves[place].at(-1), 0.5);
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 0.8;
    pen.globalAlpha = 0.4;
    pen.setLineDash([2, 3]);
    pen.beginPath();
    pen.moveTo(...at[gater]);
    pen.lineTo(x, y);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.moveTo(x, y - 5);
    for (const [dx, dy] of [[5, 0], [0, 5], [-5, 0]]) pen.lineTo(x + dx, y + dy);
    pen.closePath();
    pen.fillStyle = colours.card;
    pen.fill();
    pen.lineWidth = 1.4;
    pen.stroke();
  }
}

/** Draw neurons; `activations` colour them by what they give now. Those that reach no output are faint. */
export function drawNeurons(pen, { neurons, at, sizes }, colours, places, activations) {
  const most = activations ? places.reduce((all, place) => Math.max(all, finite(activations[place])), 1) : 1;
  for (const place of places) {
    const { kind, family, idle } = neurons[place];
    const [[x, y], radius] = [at[place], sizes[place]];
    const rim = Math.min(1.8, radius * 0.35);
    disc(pen, x, y, radius + Math.min(1.5, radius * 0.3), colours.card); // a halo keeps lines off
    pen.globalAlpha = idle ? 0.3 : 1;
    if (activations) {
      disc(pen, x, y, radius, kind === "input" ? colours.ink : colours[family]);
      disc(pen, x, y, radius - rim, colours.card);
      pen.globalAlpha = Math.min(1, finite(activations[place]) / most) * (idle ? 0.3 : 1);
      disc(pen, x, y, radius - rim, activations[place] < 0 ? colours.negative : colours.positive);
      pen.globalAlpha = 1;
    } else if (kind === "input") {
      disc(pen, x, y, radius, colours.ink);
      disc(pen, x, y, radius - rim, colours.card);
    } else disc(pen, x, y, radius, colours[family]);
    if (kind === "output") ring(pen, x, y, radius + Math.min(3, radius * 0.6), rim, colours.ink);
    pen.globalAlpha = 1;
  }
}

const finite = (value) => (Number.isFinite(value) ? Math.abs(value) : 0);
const short = (value) => (Number.isFinite(value) ? String(+value.toPrecision(2)) : "∞");

/** The names of ports, with what they are now if it is known; those of hidden neurons once there is room. */
export function drawNames(pen, scene, colours, activations) {
  const { neurons, at, sizes, pitch, aside, named } = scene;
  const size = Math.min(12, Math.max(8, pitch - 1));
  const style = { colour: colours.soft, font: `${size.toFixed(0)}px ${FONT}` };
  const first = neurons.reduce((least, { x }) => Math.min(least, x), Infinity);
  neurons.forEach(({ kind, label, cell, x: column }, place) => {
    const [x, y] = at[place];
    const value = activations ? ` ${short(activations[place])}` : "";
    if (kind === "hidden") {
      if (pitch < LABELLED || cell || scene.columns > 24) return;
      const text = label.length > LETTERS ? `${label.slice(0, LETTERS - 1)}…` : label;
      write(pen, text + value, x, y + sizes[place] + 12, { ...style, font: `10px ${FONT}`, align: "center" });
    } else if (named && !(cell && column > first)) {
      const left = kind === "input";
      const away = sizes[place] + (left ? 7 : 9);
      const [under, beside] = pitch >= 30 ? [value, ""] : ["", value];
      const [at, room] = [left ? x - away : x + away, aside - away - 5];
      const look = { ...style, align: left ? "right" : "left" };
      write(pen, fitted(pen, label, beside, room, style.font), at, y + size * (under ? -0.1 : 0.34), look);
      if (under) write(pen, under.trim(), at, y + size * 0.98, look);
    }
  });
}

/** The longest beginning of a name that has room beside its value. */
function fitted(pen, name, value, room, font) {
  pen.font = font;
  let text = name;
  while (text.length > 1 && pen.measureText(`${text}…${value}`).width > room) text = text.slice(0, -1);
  return (text === name ? name : `${text}…`) + value;
}

function write(pen, text, x, y, { colour, font, align = "left" }) {
  Object.assign(pen, { font, fillStyle: colour, textAlign: align, textBaseline: "alphabetic" });
  pen.fillText(text, x, y);
}

function disc(pen, x, y, radius, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(x, y, Math.max(0.5, radius), 0, 2 * Math.PI);
  pen.fill();
}

export function ring(pen, x, y, radius, width, colour) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  pen.arc(x, y, Math.max(0.5, radius), 0, 2 * Math.PI);
  pen.stroke();
}

/** Draw a whole scene at once, as a picture needs it. */
export function drawScene(pen, scene, colours, player, activations) {
  const { strong } = strengths(scene, player);
  const places = scene.connections.map((_, place) => place);
  drawBoxes(pen, scene, colours);
  drawConnections(pen, scene, colours, places, strong, { live: Boolean(player) });
  drawGates(pen, scene, colours, places);
  drawNeurons(pen, scene, colours, scene.neurons.map((_, place) => place), activations);
  drawNames(pen, scene, colours, activations);
}
