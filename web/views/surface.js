// What a network of two inputs and no memory gives everywhere: one coloured square an output.
import { h } from "./dom.js";
import { canSample, paint, rangeOf, sampled, SIZE } from "./field.js";

const [COLD, MIDDLE, WARM] = [[34, 94, 168], [247, 246, 240], [214, 89, 31]];

/** {element, draw(), stop()}, or null if this network has no such picture. */
export function surface(playing, { inputs, outputs }) {
  if (inputs.length !== 2 || !canSample(playing)) return null;
  const canvas = h("canvas", { className: "surface", width: SIZE, height: SIZE, role: "img", "data-testid": "surface" });
  const mark = h("span", { className: "surface-mark", ariaHidden: "true" });
  const caption = h("figcaption", { className: "soft" });
  const frame = h("div", { className: "surface-frame" }, canvas, mark);
  const chosen = h("select", { ariaLabel: "Output shown", onchange: () => show() },
    ...outputs.map((name, place) => h("option", { value: String(place) }, name)));
  chosen.hidden = outputs.length < 2;
  const element = h("figure", {}, h("h3", {}, "Response"), chosen, frame, caption);
  const give = (event) => {
    if (!event.buttons) return;
    const box = canvas.getBoundingClientRect();
    const at = (value) => Math.max(-1, Math.min(1, value));
    playing.give([at(((event.clientX - box.left) / box.width) * 2 - 1), at(1 - ((event.clientY - box.top) / box.height) * 2)]);
  };
  canvas.addEventListener("pointerdown", give);
  canvas.addEventListener("pointermove", give);

  let all = null;
  const stop = sampled(playing, (x, y) => [x, y], (values) => { all = values; show(); });
  function show() {
    if (!all) return;
    const output = Number(chosen.value || 0);
    const values = all.filter((_, place) => place % outputs.length === output);
    const [low, high] = rangeOf(values);
    colour(canvas, values, low, high - low < 1e-6 * Math.max(1, Math.abs(low)) ? low : high);
    const level = high - low < 1e-6 * Math.max(1, Math.abs(low)); // too little to be seen in colours
    const said = level ? `${outputs[output]}: everywhere ${low.toPrecision(3)}, but for ${(high - low).toExponential(0)}; both inputs from −1 to 1`
      : `${outputs[output]}: from ${low.toPrecision(3)} to ${high.toPrecision(3)}, both inputs from −1 to 1`;
    caption.textContent = `${said}. Drag in it.`;
    canvas.ariaLabel = `Response surface. ${said}`;
  }
  return {
    element,
    draw() {
      const [x, y] = playing.inputs;
      mark.hidden = Math.abs(x) > 1 || Math.abs(y) > 1;
      mark.style.left = `${(x + 1) * 50}%`;
      mark.style.top = `${(1 - y) * 50}%`;
    },
    stop,
  };
}

function colour(canvas, values, low, high) {
  paint(canvas, (place) => {
    const value = values[place];
    const share = high > low ? ((value - low) / (high - low)) * 2 - 1 : 0;
    const end = share < 0 ? WARM : COLD;
    const mixed = MIDDLE.map((from, channel) => from + (end[channel] - from) * Math.abs(share));
    return [...mixed, Number.isFinite(value) ? 255 : 0];
  });
}
