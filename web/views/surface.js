// What a network of two inputs and no memory gives everywhere: one coloured square an output.
import { h } from "./dom.js";

const SIZE = 96; // points each way
const SLICE = 8; // ms of work between two frames
const MOST_WORK = 4e7; // connections × points

/** {element, draw(), stop()}, or null if this network has no such picture. */
export function surface(playing, { inputs, outputs }) {
  const work = playing.evaluator.weight.length * SIZE * SIZE;
  if (playing.hasMemory || inputs.length !== 2 || work > MOST_WORK) return null;
  const canvas = h("canvas", { className: "surface", width: SIZE, height: SIZE, role: "img", "data-testid": "surface" });
  const mark = h("span", { className: "surface-mark", ariaHidden: "true" });
  const caption = h("figcaption", { className: "soft" });
  const frame = h("div", { className: "surface-frame" }, canvas, mark);
  const chosen = h("select", { ariaLabel: "Output shown", onchange: () => begin() },
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

  const values = new Float64Array(SIZE * SIZE);
  let [row, asked] = [0, 0];
  function begin() {
    row = 0;
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(some);
  }
  function some() {
    const until = performance.now() + SLICE;
    const output = Number(chosen.value || 0);
    for (; row < SIZE && performance.now() < until; row += 1) {
      for (let column = 0; column < SIZE; column += 1) {
        const point = [((column + 0.5) / SIZE) * 2 - 1, 1 - ((row + 0.5) / SIZE) * 2];
        values[row * SIZE + column] = playing.probe(point)[output];
      }
    }
    playing.settle();
    if (row < SIZE) asked = requestAnimationFrame(some);
    else finish();
  }
  function finish() {
    const finite = values.filter(Number.isFinite);
    const [low, high] = [finite.reduce((a, b) => Math.min(a, b), Infinity), finite.reduce((a, b) => Math.max(a, b), -Infinity)];
    colour(canvas, values, low, high);
    const said = `${outputs[Number(chosen.value || 0)]}: from ${low.toPrecision(3)} to ${high.toPrecision(3)}, both inputs from −1 to 1`;
    caption.textContent = `${said}. Drag in it.`;
    canvas.ariaLabel = `Response surface. ${said}`;
  }
  begin();
  return {
    element,
    draw() {
      const [x, y] = playing.inputs;
      mark.hidden = Math.abs(x) > 1 || Math.abs(y) > 1;
      mark.style.left = `${(x + 1) * 50}%`;
      mark.style.top = `${(1 - y) * 50}%`;
    },
    stop: () => cancelAnimationFrame(asked),
  };
}

function colour(canvas, values, low, high) {
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(SIZE, SIZE);
  const [cold, middle, warm] = [[34, 94, 168], [247, 246, 240], [214, 89, 31]];
  values.forEach((value, place) => {
    const share = high > low ? ((value - low) / (high - low)) * 2 - 1 : 0;
    const end = share < 0 ? warm : cold;
    const mixed = middle.map((from, channel) => from + (end[channel] - from) * Math.abs(share));
    image.data.set([...mixed, Number.isFinite(value) ? 255 : 0], place * 4);
  });
  pen.putImageData(image, 0, 0);
}
