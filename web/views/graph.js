// The network drawn: inputs left, outputs right; alive once it is played with. Of a large one, its levels.
import { $, count, counted, h, whenChanged } from "./dom.js";
import { Drawing } from "./drawing.js";
import { sceneOf } from "./scene.js";

let current = null; // the Drawing on the page

/** What picture.js makes a picture of; null if levels are drawn. */
export const drawingShown = () => current;

export function graph({ select, drawAll }) {
  const open = ({ graph: found, svg }, result) => {
    const before = current;
    current?.stop();
    current = found && pictureOf(found, select);
    $("graph").replaceChildren(...(found ? current.elements : levelsOf(svg, result, drawAll)));
    $("stage").classList.toggle("levels", !found);
    if (before && current && sameNeurons(before.scene, current.scene)) {
      const { zoom, left, top, hiding } = before;
      Object.assign(current, { zoom, left, top, hiding });
      current.resize();
    } else {
      current?.resize();
      if (before && current) current.morph(before);
    }
  };
  const build = whenChanged((state) => state.drawn, (found, { result }) => { if (found) open(found, result); });
  return (state) => {
    build(state);
    current?.play(state.player);
    current?.select(state.selected);
    current?.light(state.lit);
  };
}

const sameNeurons = (one, other) => one.neurons.length === other.neurons.length
  && one.neurons.every(({ id, x, y }, place) => id === other.neurons[place].id && x === other.neurons[place].x && y === other.neurons[place].y);

/** The picture of the levels, which the engine has drawn; its colours follow the theme by themselves. */
function levelsOf(svg, { summary }, drawAll) {
  const label = /aria-label="([^"]*)"/.exec(svg)?.[1] ?? "Levels of the network";
  return [
    h("img", { className: "levels-picture", alt: label, ariaLabel: label, src: `data:image/svg+xml,${encodeURIComponent(svg)}`, "data-testid": "graph" }),
    h("p", { className: "buttons" }, summary.neurons <= 4000 ? h("button", { type: "button", className: "button small", onclick: drawAll },
      `Draw all ${count(summary.neurons)} neurons`) : h("span", { className: "soft" }, "It is too large to be drawn neuron by neuron.")),
  ];
}

function pictureOf(found, select) {
  const scene = sceneOf(found);
  const base = h("canvas", {
    role: "img", "data-testid": "graph",
    ariaLabel: `Drawing of ${counted(found.neurons.length, "neuron")} in ${scene.columns} columns, `
      + `with ${counted(found.connections.length, "connection")}`
      + found.layers.map(({ label, neurons }) => `; ${label} of ${counted(neurons.length, "neuron")}`).join(""),
  });
  const over = h("canvas", { className: "over", ariaHidden: "true" });
  const tip = h("p", { className: "tip", hidden: true });
  const frame = h("div", {
    className: "frame", tabIndex: 0, role: "group",
    ariaLabel: "The drawing. Arrow keys go from neuron to neuron; plus and minus zoom, 0 fits.",
  }, base, over, tip);
  const key = h("div", { className: "key" });
  const drawing = new Drawing({ scene, base, over, tip, frame, key, onselect: select, onmeasure: (moved) => onmeasure(moved) });
  drawing.elements = [frame, h("div", { className: "zoom" }, ...drawing.buttons()), key];
  return drawing;
}

let onmeasure = () => {};

/** Call `listener` with the Drawing whenever its neurons stand elsewhere. */
export function whenMeasured(listener) {
  onmeasure = listener;
  if (current?.width) listener(current);
}
