// The drawing as a picture to pass on, SVG or PNG: by the painter of the canvas, on its background, with its legend.
import { drawScene, readColours } from "./paint.js";

const LINE = 22; // px of a line of the legend

const text = (value) => String(value).replace(/[<&>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const round = (value) => +value.toFixed(1);

/** A pen that writes SVG: what paint.js uses of a canvas's context. */
class SvgPen {
  parts = [];
  globalAlpha = 1;
  lineWidth = 1;
  font = "12px sans-serif";
  #d = "";
  #dash = "";
  #scene;
  #measure = document.createElement("canvas").getContext("2d");

  constructor(scene) {
    this.#scene = scene;
  }

  setLineDash(dash) { this.#dash = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""; }
  beginPath() { this.#d = ""; }
  closePath() { this.#d += "Z"; }
  moveTo(x, y) { this.#d += `M${round(x)} ${round(y)}`; }
  lineTo(x, y) { this.#d += `L${round(x)} ${round(y)}`; }
  arc(x, y, radius) { this.#d += `M${round(x - radius)} ${round(y)}a${round(radius)} ${round(radius)} 0 1 0 ${round(2 * radius)} 0a${round(radius)} ${round(radius)} 0 1 0 ${round(-2 * radius)} 0Z`; }
  fill() { this.#put(this.#d, `fill="${this.fillStyle}"`); }
  stroke() { this.#put(this.#d, `fill="none" ${this.#line()}`); }
  strokeLines(places) { this.#put(places.map((place) => this.#scene.d[place]).join(""), `fill="none" ${this.#line()}`); }
  measureText(words) { return Object.assign(this.#measure, { font: this.font }).measureText(words); }

  fillText(words, x, y) {
    const anchor = { left: "start", right: "end", center: "middle" }[this.textAlign];
    this.parts.push(`<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${this.fillStyle}" style="font:${text(this.font)}">${text(words)}</text>`);
  }

  #line() { return `stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"${this.#dash}`; }
  #put(d, look) { if (d) this.parts.push(`<path d="${d}" ${look} opacity="${round(this.globalAlpha)}"/>`); }
}

/** The entries of the legend as rows of [colour, words] in a width. */
function legendOf(element, width) {
  const rows = [[]];
  let used = 0;
  for (const entry of element.querySelectorAll("li")) {
    const mark = entry.querySelector("span");
    const words = entry.textContent.trim();
    const size = 7 * words.length + 40;
    if (used && used + size > width - 24) [rows[rows.length], used] = [[], 0];
    const { backgroundColor, borderTopColor } = mark ? getComputedStyle(mark) : {};
    const colour = !mark ? null : /, 0\)$|transparent/.test(backgroundColor) ? borderTopColor : backgroundColor;
    rows.at(-1).push({ x: 12 + used, colour, words });
    used += size;
  }
  return rows;
}

function drawLegend(pen, rows, top, colours) {
  rows.forEach((row, line) => row.forEach(({ x, colour, words }) => {
    const y = top + line * LINE;
    pen.globalAlpha = 1;
    if (colour) {
      pen.fillStyle = colour;
      pen.beginPath();
      pen.arc(x + 6, y - 4, 5, 0, 2 * Math.PI);
      pen.fill();
    }
    Object.assign(pen, { font: "12px system-ui, sans-serif", fillStyle: colours.soft, textAlign: "left" });
    pen.fillText(words, x + (colour ? 16 : 0), y);
  }));
}

function paint(pen, { scene, player, key, width, height }, colours, rows) {
  pen.fillStyle = colours.card;
  pen.beginPath();
  for (const [x, y] of [[0, 0], [width, 0], [width, height + rows.length * LINE], [0, height + rows.length * LINE]]) pen.lineTo(x, y);
  pen.closePath();
  pen.fill();
  drawScene(pen, scene, colours, player);
  drawLegend(pen, rows, height + 14, colours);
}

/** SVG text of a drawing {scene, player, key, width, height}. */
export function svgOf(drawing) {
  const { scene, key, width, height } = drawing;
  const [pen, rows] = [new SvgPen(scene), legendOf(key, width)];
  const colours = readColours(key);
  paint(pen, drawing, colours, rows);
  const parts = pen.parts.slice(1).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + rows.length * LINE}">`
    + `<rect width="100%" height="100%" fill="${colours.card}"/>${parts}</svg>\n`;
}

/** A canvas with a drawing, twice as fine. */
export function canvasOf(drawing) {
  const { key, width, height } = drawing;
  const rows = legendOf(key, width);
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * (height + rows.length * LINE) });
  const pen = canvas.getContext("2d");
  pen.scale(2, 2);
  paint(pen, drawing, readColours(key), rows);
  return canvas;
}
