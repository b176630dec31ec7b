// The drawing as SVG text, on its own: with its colours, without a style sheet.
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
  const dots = scene.neurons.map((neuron, place) => dot(neuron, scene.at[place], scene, colours));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" font-family="sans-serif" font-size="12">`
    + `<rect width="100%" height="100%" fill="${colours.card}"/>${lines.join("")}${dots.join("")}</svg>\n`;
}

function line({ enabled, delay }, curve, strength, colours) {
  const [x1, y1, ...rest] = curve.map(round);
  const stroke = enabled ? (strength < 0 ? colours.negative : colours.positive) : colours.soft;
  const dash = enabled ? (delay ? ' stroke-dasharray="6 4"' : "") : ' stroke-dasharray="1.5 4"';
  const size = enabled ? 0.6 + 2.4 * Math.abs(strength) : 1;
  return `<path d="M${x1} ${y1}C${rest.join(" ")}" fill="none" stroke="${stroke}" stroke-width="${round(size)}" opacity="${round(0.3 + 0.6 * Math.abs(strength))}"${dash}/>`;
}

function dot({ kind, activation, label }, [x, y], { radius, named }, colours) {
  const fill = kind === "input" ? colours.card : colours[family(activation)];
  const edge = kind === "hidden" ? "" : ` stroke="${colours.ink}" stroke-width="1.8"`;
  const circle = `<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" fill="${fill}"${edge}><title>${text(label)}</title></circle>`;
  if (!named || kind === "hidden") return circle;
  const [side, away] = kind === "input" ? ["end", -radius - 8] : ["start", radius + 8];
  return `${circle}<text x="${round(x + away)}" y="${round(y + 4)}" text-anchor="${side}" fill="${colours.soft}">${text(label.slice(0, 14))}</text>`;
}
