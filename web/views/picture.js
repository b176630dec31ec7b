// The drawing as a picture to pass on, with its legend, and as frames of an animation: by the painter of the canvas.
import { drawScene, drawStraight, drawNeurons, readColours } from "./paint.js";

const LINE = 22; // px of a line of the legend
const FONT = "12px system-ui, sans-serif";

/** The entries of the legend as rows of {x, colour, words} in a width. */
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
    if (colour) {
      pen.fillStyle = colour;
      pen.beginPath();
      pen.arc(x + 6, y - 4, 5, 0, 2 * Math.PI);
      pen.fill();
    }
    Object.assign(pen, { font: FONT, fillStyle: colours.soft, textAlign: "left" });
    pen.fillText(words, x + (colour ? 16 : 0), y);
  }));
}

/** A canvas with its pen, filled with the background of the drawing. */
function sheet(width, height, scale, colours) {
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(scale * width), height: Math.round(scale * height) });
  const pen = canvas.getContext("2d", { alpha: false });
  pen.scale(scale, scale);
  pen.fillStyle = colours.card;
  pen.fillRect(0, 0, width, height);
  return { canvas, pen };
}

/** A canvas with a drawing and its legend, twice as fine. */
export function canvasOf({ scene, live, activations, key, width, height }) {
  const rows = legendOf(key, width);
  const colours = readColours(key);
  const { canvas, pen } = sheet(width, height + rows.length * LINE, 2, colours);
  drawScene(pen, scene, colours, live, activations);
  drawLegend(pen, rows, height + 14, colours);
  return canvas;
}

/** A frame of an animation of `width` and `height`: a drawing, perhaps on its way, with words in the corner. */
export function frameOf({ scene, live, activations, moving, key }, { width, height }, words) {
  const colours = readColours(key);
  const { canvas, pen } = sheet(width, height, 1, colours);
  if (moving) {
    drawStraight(pen, scene, colours);
    drawNeurons(pen, scene, colours, scene.neurons.map((_, place) => place), activations);
  } else drawScene(pen, scene, colours, live, activations);
  Object.assign(pen, { font: `600 ${FONT}`, fillStyle: colours.ink, textAlign: "left", textBaseline: "alphabetic", globalAlpha: 1 });
  pen.fillText(words, 12, height - 12);
  return canvas;
}
