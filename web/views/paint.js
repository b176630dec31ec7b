// A scene on a canvas. Colours come from style.css, so they follow the theme.
import { middle } from "./boxes.js";
import { family } from "./palette.js";
import { sideBySide } from "./scene.js";

const FAMILIES = ["sigmoid", "tanh", "rectifier", "wave", "step", "curve", "linear", "other"];
const MOST_MARKED = 400; // connections whose sign is drawn as a bar too
const LABEL = 100; // px that a name may take

export function readColours(canvas) {
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["card", "ink", "soft", "line", "positive", "negative", "accent"];
  const tints = FAMILIES.map((name) => [name, colour(`tint-${name}`)]);
  return { ...Object.fromEntries(names.map((name) => [name, colour(name)])), ...Object.fromEntries(tints) };
}

/** How strong each connection is drawn, from -1 to 1: by its weight, or by what it carries now. */
export function strengths({ connections }, player) {
  const values = connections.map(({ weight, edge, enabled }) => (player && enabled ? player.flow(edge) : weight));
  const sizes = values.map(Math.abs).filter(Number.isFinite).sort((a, b) => a - b);
  const heavy = sizes[Math.floor(sizes.length * (player ? 0.98 : 0.95))] || 1;
  return values.map((value) => Math.max(-1, Math.min(1, value / heavy || 0)));
}

/**
 * Stroke a connection. Without a graphics card a line of exactly one pixel is by far the fastest: one of
 * about a pixel is drawn so, fainter or stronger instead, and among many a wider one as several side by side.
 */
function strokeLine(pen, scene, place, width, alpha, pixel) {
  const number = Math.max(1, Math.round(width / pixel));
  const fast = number === 1 || (pixel === 1 && scene.connections.length > MOST_MARKED);
  pen.lineWidth = fast ? pixel : width;
  pen.globalAlpha = fast ? Math.min(1, (alpha * width) / (number * pixel)) : alpha;
  pen.stroke(fast ? sideBySide(scene, place, number) : scene.paths[place]);
}

/** Draw connections: `places` of them, the weak ones first as they come; `phase` moves pulses along. */
export function drawConnections(pen, scene, colours, places, strong, { live, lit = false, phase = -1 }) {
  const { connections } = scene;
  const crowd = Math.min(1, 18 / Math.sqrt(connections.length + 1));
  const pixel = 1 / pen.getTransform().a;
  for (const place of places) {
    const { enabled, delay } = connections[place];
    const strength = Math.abs(strong[place]);
    const alpha = live ? 0.06 + 0.9 * strength : (0.3 + 0.6 * strength) * (0.35 + 0.65 * crowd);
    const width = enabled ? 0.6 + 2.8 * strength * (0.4 + 0.6 * crowd) : 1;
    pen.strokeStyle = enabled ? (strong[place] < 0 ? colours.negative : colours.positive) : colours.soft;
    pen.setLineDash(enabled ? (delay ? [6, 4] : []) : [1.5, 4]);
    strokeLine(pen, scene, place, width, lit ? 0.95 : enabled ? alpha : 0.5, pixel);
    if (strong[place] < 0 && enabled && connections.length <= MOST_MARKED) bar(pen, scene.curves[place]);
    if (phase >= 0 && enabled && strength > 0.15) pulse(pen, scene.curves[place], phase, 1 + 2 * strength);
  }
  pen.globalAlpha = 1;
  pen.setLineDash([]);
}

/** Draw a box around each layer, under everything else. */
export function drawBoxes(pen, { boxes, named }, colours) {
  pen.lineJoin = "round";
  for (const { outline, top: [x, y], label } of boxes) {
    pen.beginPath();
    outline.forEach((corner) => pen.lineTo(...corner));
    pen.closePath();
    pen.globalAlpha = 0.1;
    pen.fillStyle = colours.accent;
    pen.fill();
    pen.globalAlpha = 0.55;
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 1;
    pen.stroke();
    pen.globalAlpha = 1;
    if (!named && boxes.length > 4) continue;
    pen.font = "600 11px system-ui, sans-serif";
    pen.fillStyle = colours.soft;
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillText(label, x, Math.max(10, y - 4));
  }
}

/** Draw a diamond on each connection with a gate, and a thread to the neuron that is its gate. */
export function drawGates(pen, { connections, curves, at }, colours, places) {
  for (const place of places) {
    const { gater, enabled } = connections[place];
    if (gater < 0 || !enabled) continue;
    const [x, y] = middle(curves[place]);
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 0.8;
    pen.globalAlpha = 0.35;
    pen.setLineDash([2, 3]);
    pen.beginPath();
    pen.moveTo(...at[gater]);
    pen.lineTo(x, y);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    pen.beginPath();
    for (const [dx, dy] of [[0, -5], [5, 0], [0, 5], [-5, 0]]) pen.lineTo(x + dx, y + dy);
    pen.closePath();
    pen.fillStyle = colours.card;
    pen.fill();
    pen.lineWidth = 1.4;
    pen.stroke();
  }
}

/** The bar across a connection that says negative without a colour. */
function bar(pen, curve) {
  const [[x, y], [x1, y1, x2, y2, x3, y3, x4, y4]] = [middle(curve), curve];
  const [dx, dy] = [x4 + x3 - x2 - x1, y4 + y3 - y2 - y1];
  const size = 4 / (Math.hypot(dx, dy) || 1);
  pen.setLineDash([]);
  pen.beginPath();
  pen.moveTo(x - dy * size, y + dx * size);
  pen.lineTo(x + dy * size, y - dx * size);
  pen.stroke();
}

function pulse(pen, curve, t, size) {
  const s = 1 - t;
  const along = (a, b, c, d) => s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
  const [x1, y1, x2, y2, x3, y3, x4, y4] = curve;
  disc(pen, along(x1, x2, x3, x4), along(y1, y2, y3, y4), size, pen.strokeStyle);
}

/** Draw neurons; `activations` colour them by what they give now. */
export function drawNeurons(pen, scene, colours, places, activations) {
  const { neurons, at, radius } = scene;
  const most = activations ? places.reduce((all, place) => Math.max(all, finite(activations[place])), 1) : 1;
  for (const place of places) {
    const { kind, activation } = neurons[place];
    const [x, y] = at[place];
    const tint = kind === "input" ? colours.ink : colours[family(activation)];
    disc(pen, x, y, radius + Math.min(1.5, radius * 0.3), colours.card); // a halo keeps lines off
    if (activations) {
      const half = Math.min(1.8, radius * 0.35) / 2; // of the rim: discs are faster than a ring
      disc(pen, x, y, radius - 0.75 + half, tint);
      disc(pen, x, y, radius - 0.75 - half, colours.card);
      pen.globalAlpha = Math.min(1, finite(activations[place]) / most);
      disc(pen, x, y, radius - 0.75 - half, activations[place] < 0 ? colours.negative : colours.positive);
      pen.globalAlpha = 1;
    } else {
      disc(pen, x, y, radius, kind === "input" ? colours.card : tint);
      if (kind === "input") ring(pen, x, y, radius - 0.9, Math.min(1.8, radius * 0.35), colours.ink);
    }
    if (kind === "output") ring(pen, x, y, radius + Math.min(3, radius * 0.6), Math.min(1.8, radius * 0.35), colours.ink);
  }
}

const finite = (value) => (Number.isFinite(value) ? Math.abs(value) : 0);

/** The names of inputs and outputs; with what they are now, if it is known. */
export function drawNames(pen, scene, colours, activations) {
  if (!scene.named) return;
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = colours.soft;
  pen.textBaseline = "middle";
  scene.neurons.forEach(({ kind, label }, place) => {
    if (kind === "hidden") return;
    const [x, y] = scene.at[place];
    const value = activations && scene.radius > 4 ? ` ${short(activations[place])}` : "";
    pen.textAlign = kind === "input" ? "right" : "left";
    const away = scene.radius + 8;
    pen.fillText(fitted(pen, label, value), kind === "input" ? x - away : x + away, y, LABEL);
  });
}

const short = (value) => (Number.isFinite(value) ? String(+value.toPrecision(2)) : "∞");

/** The longest beginning of a name that has room beside its value. */
function fitted(pen, name, value) {
  let text = name;
  while (text.length > 1 && pen.measureText(`${text}…${value}`).width > LABEL) text = text.slice(0, -1);
  return (text === name ? name : `${text}…`) + value;
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
