// Two plots of the comparison: each output of one side against the other, and how large errors are.
import { count, fold, h, short, svg } from "./dom.js";

const SIZE = 300;
const PAD = 34;

/** A fold that has the plots made when it is opened. */
export const parityFold = ({ plot }) => fold("parity", "See every output", "Running both once more…", plot, figures);

function figures(found) {
  return [h("div", { className: "plots" },
    h("figure", {}, scatter(found), h("figcaption", { className: "soft" },
      `Network across, ONNX up: ${count(found.network.length)} of ${count(found.total)} outputs.`)),
    h("figure", {}, histogram(found), h("figcaption", { className: "soft" },
      `Errors of all outputs. The band is ±${short(found.band)}, half a unit in the last place of the largest one.`)))];
}

const frame = (label, ...children) => svg("svg", {
  viewBox: `0 0 ${SIZE} ${SIZE}`, class: "plot", role: "img", "aria-label": label,
}, ...children);
const text = (x, y, anchor, words) => svg("text", { x, y, "text-anchor": anchor }, words);

/** Outputs of one side against those of the other. */
export function scatter({ network, model }, label = "ONNX against network") {
  const all = [...network, ...model];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const at = (value) => PAD + ((value - low) / (high - low || 1)) * (SIZE - 2 * PAD);
  const dots = network.map((value, place) => svg("circle", {
    cx: at(value).toFixed(1), cy: (SIZE - at(model[place])).toFixed(1), r: 2,
  }));
  return frame(`${label}, from ${short(low)} to ${short(high)}`,
    svg("line", { x1: PAD, y1: SIZE - PAD, x2: SIZE - PAD, y2: PAD, class: "diagonal" }), ...dots,
    text(PAD, SIZE - 12, "start", short(low)), text(SIZE - PAD, SIZE - 12, "end", short(high)));
}

function histogram({ counts, edges, band }) {
  const [low, high] = [edges[0], edges.at(-1)];
  const x = (value) => PAD + ((value - low) / (high - low || 1)) * (SIZE - 2 * PAD);
  const most = Math.max(...counts, 1);
  const bars = counts.map((number, place) => svg("rect", {
    x: x(edges[place]).toFixed(1), width: Math.max(1, x(edges[place + 1]) - x(edges[place]) - 1).toFixed(1),
    y: (SIZE - PAD - (number / most) * (SIZE - 2 * PAD)).toFixed(1), height: ((number / most) * (SIZE - 2 * PAD)).toFixed(1),
  }, svg("title", {}, count(number))));
  const [from, to] = [Math.max(PAD, x(-band)), Math.min(SIZE - PAD, x(band))];
  return frame(`Errors from ${short(low)} to ${short(high)}`,
    svg("rect", { x: from, width: Math.max(0, to - from), y: PAD, height: SIZE - 2 * PAD, class: "band" }), ...bars,
    text(PAD, SIZE - 12, "start", short(low)), text(SIZE / 2, SIZE - 12, "middle", "0"), text(SIZE - PAD, SIZE - 12, "end", short(high)));
}
