// What a network without memory gives over the square from −1 to 1, sampled between frames: its response, one
// coloured square an output, or the image that a compositional pattern-producing network (CPPN) paints.
import { h } from "./dom.js";

const SIZE = 96; // points each way
const SLICE = 8; // ms of work between two frames
const MOST_WORK = 4e7; // connections × points
const [COLD, MIDDLE, WARM] = [[34, 94, 168], [247, 246, 240], [214, 89, 31]];
const DISTANCE = /^(d|r|dist|distance|radius)$/i;
const BIAS = /^(b|bias|one)$/i;
const PLACE = [/^x\d?$/i, /^y\d?$/i];

/** The pictures of a network: {element, draw(), stop()} of each. */
export function squares(playing, ports) {
  if (playing.hasMemory || playing.evaluator.weight.length * SIZE * SIZE > MOST_WORK) return [];
  return [response(playing, ports), image(playing, ports)].filter(Boolean);
}

/** A canvas with what `colours` makes of all values: {colourAt, said} of the values, all outputs of a point together. */
function square(playing, { title, name, label, inputsAt, colours }) {
  const canvas = h("canvas", { className: "surface", width: SIZE, height: SIZE, role: "img", "data-testid": name });
  const frame = h("div", { className: "surface-frame" }, canvas);
  const caption = h("figcaption", { className: "soft" });
  const values = new Float64Array(SIZE * SIZE * playing.evaluator.outputs.length);
  let [row, asked, done] = [0, 0, false];
  const show = () => {
    if (!done) return;
    const { colourAt, said } = colours(values);
    const pen = canvas.getContext("2d");
    const picture = pen.createImageData(SIZE, SIZE);
    for (let place = 0; place < SIZE * SIZE; place += 1) picture.data.set(colourAt(place), place * 4);
    pen.putImageData(picture, 0, 0);
    caption.textContent = said;
    canvas.ariaLabel = `${label}. ${said}`;
  };
  const some = () => {
    const until = performance.now() + SLICE;
    for (; row < SIZE && performance.now() < until; row += 1) {
      for (let column = 0; column < SIZE; column += 1) {
        const point = inputsAt(((column + 0.5) / SIZE) * 2 - 1, 1 - ((row + 0.5) / SIZE) * 2);
        values.set(playing.probe(point), (values.length / SIZE) * row + (values.length / SIZE / SIZE) * column);
      }
    }
    playing.resume();
    done = row === SIZE;
    if (done) show();
    else asked = requestAnimationFrame(some);
  };
  asked = requestAnimationFrame(some);
  const element = h("figure", {}, h("h3", {}, title), frame, caption);
  return { element, canvas, frame, show, draw() {}, stop: () => cancelAnimationFrame(asked) };
}

/** The response of a network of two inputs; null if it has more. */
function response(playing, { inputs, outputs }) {
  if (inputs.length !== 2) return null;
  const chosen = h("select", { ariaLabel: "Output shown", hidden: outputs.length < 2 },
    ...outputs.map((name, place) => h("option", { value: String(place) }, name)));
  const colours = (all) => {
    const output = Number(chosen.value || 0);
    const values = all.filter((_, place) => place % outputs.length === output);
    const [low, high] = rangeOf(values);
    const level = high - low < 1e-6 * Math.max(1, Math.abs(low)); // too little to be seen in colours
    const said = level ? `everywhere ${low.toPrecision(3)}, but for ${(high - low).toExponential(0)};` : `from ${low.toPrecision(3)} to ${high.toPrecision(3)},`;
    const colourAt = (place) => {
      const share = level ? 0 : ((values[place] - low) / (high - low)) * 2 - 1;
      const end = share < 0 ? WARM : COLD;
      return [...MIDDLE.map((from, channel) => from + (end[channel] - from) * Math.abs(share)), Number.isFinite(values[place]) ? 255 : 0];
    };
    return { colourAt, said: `${outputs[output]}: ${said} both inputs from −1 to 1. Drag in it.` };
  };
  const found = square(playing, { title: "Response", name: "surface", label: "Response surface", inputsAt: (x, y) => [x, y], colours });
  const mark = h("span", { className: "surface-mark", ariaHidden: "true" });
  chosen.addEventListener("change", found.show);
  found.frame.append(mark);
  found.frame.before(chosen);
  const give = (event) => {
    if (!event.buttons) return;
    const box = found.canvas.getBoundingClientRect();
    const at = (value) => Math.max(-1, Math.min(1, value));
    playing.give([at(((event.clientX - box.left) / box.width) * 2 - 1), at(1 - ((event.clientY - box.top) / box.height) * 2)]);
  };
  for (const kind of ["pointerdown", "pointermove"]) found.canvas.addEventListener(kind, give);
  return {
    ...found,
    draw() {
      const [x, y] = playing.inputs;
      mark.hidden = Math.abs(x) > 1 || Math.abs(y) > 1;
      mark.style.translate = `${(x + 1) * 50}cqw ${(1 - y) * 50}cqh`;
    },
  };
}

/** The image of a network that draws, grey, or red, green and blue; null if it is none, or the response shows the same. */
function image(playing, { inputs, outputs }) {
  const found = inputsOf(inputs);
  const isPlain = inputs.length === 2 && outputs.length === 1 && !PLACE.every((rule, place) => rule.test(inputs[place]));
  if (isPlain || !found || (outputs.length !== 1 && outputs.length !== 3)) return null;
  const channels = outputs.length === 1 ? [0, 0, 0] : [0, 1, 2];
  const colours = (values) => {
    const [low, high] = rangeOf(values);
    const [from, to] = low >= 0 && high <= 1 ? [0, 1] : low >= -1 && high <= 1 ? [-1, 1] : [low, high]; // as it is if it fits
    const shade = (value) => (to > from ? ((value - from) / (to - from)) * 255 : 127);
    const colourAt = (place) => {
      const given = channels.map((channel) => values[place * outputs.length + channel]);
      return [...given.map(shade), given.every(Number.isFinite) ? 255 : 0];
    };
    const kind = outputs.length === 1 ? "Grey" : "Red, green and blue";
    return { colourAt, said: `${kind}: dark is ${from.toPrecision(3)}, bright ${to.toPrecision(3)}, x and y from −1 to 1${found.said}.` };
  };
  return square(playing, { title: "As an image", name: "image", label: "The network as an image", inputsAt: found.at, colours });
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

/** The least and the greatest of the finite values. */
function rangeOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}
