// The drawing as SVG text, on its own: with its colours, without a style sheet.
import { boxesOf, middle } from "./boxes.js";
import { family } from "./palette.js";
import { withColours } from "./parity.js";
import { readColours, strengths } from "./paint.js";

const text = (value) => String(value).replace(/[<&>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const round = (value) => +value.toFixed(1);

/** SVG of the drawing that stands in an element: of its neurons, or of its layers. */
export function pictureOf(element) {
  const scene = element.querySelector("canvas")?.scene;
  if (!scene) return withColours(element.querySelector("svg"));
  const colours = readColours(element);
  const strong = strengths(scene, null);
  const [width, height] = [Math.max(...scene.at.map(([x]) => x)) + 100, Math.max(...scene.at.map(([, y]) => y)) + 24];
  const lines = scene.connections.map((connection, place) => line(connection, scene.curves[place], strong[place], colours));
  const boxes = boxesOf(scene).map((box) => boxed(box, colours));
  const gates = scene.connections.flatMap(({ enabled, gater }, place) => (enabled && gater >= 0
    ? [gate(middle(scene.curves[place]), scene.at[gater], colours)] : []));
  const dots = scene.neurons.map((neuron, place) => dot(neuron, scene.at[place], scene, colours));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" font-family="sans-serif" font-size="12">`
    + `<rect width="100%" height="100%" fill="${colours.card}"/>${boxes.join("")}${lines.join("")}${gates.join("")}${dots.join("")}</svg>\n`;
}

function line({ enabled, delay }, curve, strength, colours) {
  const [x1, y1, ...rest] = curve.map(round);
  const stroke = enabled ? (strength < 0 ? colours.negative : colours.positive) : colours.soft;
  const dash = enabled ? (delay ? ' stroke-dasharray="6 4"' : "") : ' stroke-dasharray="1.5 4"';
  const size = enabled ? 0.6 + 2.4 * Math.abs(strength) : 1;
  return `<path d="M${x1} ${y1}C${rest.join(" ")}" fill="none" stroke="${stroke}" stroke-width="${round(size)}" opacity="${round(0.3 + 0.6 * Math.abs(strength))}"${dash}/>`;
}

function boxed({ label, outline, top: [x, y] }, colours) {
  const corners = outline.map((corner) => corner.map(round).join(",")).join(" ");
  return `<polygon points="${corners}" fill="${colours.accent}" fill-opacity="0.1" stroke="${colours.accent}" stroke-opacity="0.55" stroke-linejoin="round"/>`
    + `<text x="${round(x)}" y="${round(Math.max(10, y - 4))}" font-size="11" font-weight="600" fill="${colours.soft}">${text(label)}</text>`;
}

function gate([x, y], [gx, gy], colours) {
  return `<path d="M${round(gx)} ${round(gy)}L${round(x)} ${round(y)}" stroke="${colours.accent}" stroke-width="0.8" stroke-dasharray="2 3" opacity="0.35"/>`
    + `<path d="M${round(x)} ${round(y - 5)}l5 5l-5 5l-5 -5Z" fill="${colours.card}" stroke="${colours.accent}" stroke-width="1.4"/>`;
}

function dot({ kind, activation, label }, [x, y], { radius, named }, colours) {
  const fill = kind === "input" ? colours.card : colours[family(activation)];
  const edge = kind === "hidden" ? "" : ` stroke="${colours.ink}" stroke-width="1.8"`;
  const circle = `<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" fill="${fill}"${edge}><title>${text(label)}</title></circle>`;
  if (!named || kind === "hidden") return circle;
  const [side, away] = kind === "input" ? ["end", -radius - 8] : ["start", radius + 8];
  return `${circle}<text x="${round(x + away)}" y="${round(y + 4)}" text-anchor="${side}" fill="${colours.soft}">${text(label.slice(0, 14))}</text>`;
}
