// A plot of the comparison: each output of one side against the other.
import { count, fold, h, short, svg } from "./dom.js";

const SIZE = 300;
const PAD = 34;

/** A fold that has the plot made when it is opened. */
export const parityFold = ({ plot }) => fold("parity", "See every output", "Running both once more…", plot, (found) => [
  h("figure", {}, scatter(found), h("figcaption", { className: "soft" },
    `Network across, ONNX up: ${count(found.network.length)} of ${count(found.total)} outputs, at most ${short(found.most)} apart; `
    + `half a unit in the last place of the largest one is ${short(found.band)}.`))]);

/** Outputs of one side against those of the other. */
export function scatter({ network, model }, label = "ONNX against network") {
  const all = [...network, ...model];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const at = (value) => PAD + ((value - low) / (high - low || 1)) * (SIZE - 2 * PAD);
  const text = (x, anchor, number) => svg("text", { x, y: SIZE - 12, "text-anchor": anchor }, short(number));
  // Lines without a length, with round ends: one element, where thousands of dots would be slow.
  const dots = network.map((value, place) => `M${at(value).toFixed(1)} ${(SIZE - at(model[place])).toFixed(1)}h0`);
  return svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "plot", role: "img", "aria-label": `${label}, from ${short(low)} to ${short(high)}` },
    svg("line", { x1: PAD, y1: SIZE - PAD, x2: SIZE - PAD, y2: PAD, class: "diagonal" }), svg("path", { d: dots.join(""), class: "dots" }),
    text(PAD, "start", low), text(SIZE - PAD, "end", high));
}
