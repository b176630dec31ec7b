// A compositional pattern-producing network (CPPN) as the image that it draws: grey, or red, green and blue.
import { h } from "./dom.js";
import { canSample, paint, rangeOf, sampled, SIZE } from "./field.js";

const DISTANCE = /^(d|r|dist|distance|radius)$/i;
const BIAS = /^(b|bias|one)$/i;
const PLACE = [/^x\d?$/i, /^y\d?$/i];

/** {element, stop()}, or null if this network is none that draws. */
export function image(playing, { inputs, outputs }) {
  const found = inputsOf(inputs);
  const isPlain = inputs.length === 2 && outputs.length === 1 && !PLACE.every((rule, place) => rule.test(inputs[place]));
  if (isPlain) return null; // the response shows the same
  if (!found || (outputs.length !== 1 && outputs.length !== 3) || !canSample(playing)) return null;
  const canvas = h("canvas", { className: "surface", width: SIZE, height: SIZE, role: "img", "data-testid": "image" });
  const caption = h("figcaption", { className: "soft" });
  const element = h("figure", {}, h("h3", {}, "As an image"), h("div", { className: "surface-frame" }, canvas), caption);
  const stop = sampled(playing, found.at, (values) => {
    const { shade, said } = shades(values);
    const each = outputs.length;
    paint(canvas, (place) => {
      const colours = [0, each === 1 ? 0 : 1, each === 1 ? 0 : 2].map((channel) => values[place * each + channel]);
      return [...colours.map(shade), colours.every(Number.isFinite) ? 255 : 0];
    });
    const kind = each === 1 ? "Grey" : "Red, green and blue";
    caption.textContent = `${kind}: ${said}, x and y from −1 to 1${found.said}.`;
    canvas.ariaLabel = `The network as an image. ${caption.textContent}`;
  });
  return { element, stop };
}

/** How a point becomes inputs, {at, said}; null if the inputs are no x and y and what goes with them. */
export function inputsOf(names) {
  const others = names.slice(2).map((name) => (BIAS.test(name) ? "bias" : DISTANCE.test(name) ? "distance" : ""));
  if (names.length === 3 && !others[0]) others[0] = "distance"; // as it nearly always is
  const named = PLACE.every((rule, place) => rule.test(names[place] ?? ""));
  const fits = names.length === 2 || names.length === 3 || (names.length === 4 && named && new Set(others).size === 2);
  if (!fits || others.includes("")) return null;
  const values = { bias: () => 1, distance: Math.hypot };
  const words = { bias: "a bias of 1", distance: "the distance from the middle" };
  const said = others.map((kind, place) => `; ${names[place + 2]} is ${words[kind]}`).join("");
  return { at: (x, y) => [x, y, ...others.map((kind) => values[kind](x, y))], said };
}

/** How a value becomes a shade from 0 to 255: as it is if it fits, else over the range of all. */
function shades(values) {
  const [low, high] = rangeOf(values);
  const [from, to] = low >= 0 && high <= 1 ? [0, 1] : low >= -1 && high <= 1 ? [-1, 1] : [low, high];
  const said = `dark is ${from.toPrecision(3)}, bright ${to.toPrecision(3)}`;
  return { shade: (value) => (to > from ? ((value - from) / (to - from)) * 255 : 127), said };
}
