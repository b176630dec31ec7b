// The network drawn: inputs left, outputs right; alive once it is played with. Of a large one, its levels, or what is
// near one of its neurons; of two, both beside each other, with what differs lit.
import { $, button, count, counted, h } from "./dom.js";
import { Drawing } from "./drawing.js";
import { differing, sceneOf } from "./scene.js";

const MOST_DRAWN = 4000; // neurons, one by one

let current = null; // the Drawing of the result
let onmeasure = () => {};

/** What picture.js makes a picture of; null if levels are drawn. */
export const drawingShown = () => current;

/** Call `listener` with the Drawing whenever its neurons stand elsewhere. */
export function whenMeasured(listener) {
  onmeasure = listener;
  if (current?.width) listener(current);
}

export function graph({ select, look }) {
  let [drawn, compared, beside, lit, pointed] = [null, null, null, null, []];
  const open = ({ graph: found, svg, centre }, { result, other }) => {
    const before = current;
    for (const each of [before, beside]) each?.stop();
    current = found && drawingOf(found, { onselect: select, onmeasure: (moved) => onmeasure(moved) });
    beside = found && other?.drawing && centre === undefined ? drawingOf(other.drawing, {}) : null;
    if (beside) both(result.name, other.name);
    else $("graph").replaceChildren(...(found ? [...parts(current, current.buttons()), nearOf(current, centre)] : levelsOf(svg, result)));
    $("stage").classList.toggle("levels", !found);
    lit = null;
    beside?.resize();
    if (before && current && sameNeurons(before.scene, current.scene)) {
      const { zoom, left, top, hiding } = before;
      Object.assign(current, { zoom, left, top, hiding });
      current.resize();
    } else {
      current?.resize();
      if (before && current) current.morph(before);
    }
    if (beside) differences(true);
  };

  /** Two drawings, and a button that lights what only one of them has. */
  const both = (name, other) => {
    const toggle = button("Differences", () => differences(!lit), { ariaPressed: "true" });
    const figures = [[name, current], [other, beside]].map(([title, drawing]) => h("figure", {}, h("figcaption", { className: "wraps" }, title), drawing.frame));
    $("graph").replaceChildren(h("div", { className: "both", "data-testid": "side-by-side" }, ...figures),
      h("div", { className: "zoom" }, toggle, ...current.buttons()), current.key);
    toggle.addEventListener("click", () => { toggle.ariaPressed = String(Boolean(lit)); });
  };
  const differences = (on) => {
    lit = on ? differing(current.scene, beside.scene) : null;
    beside.light(on ? differing(beside.scene, current.scene) : null);
    current.light(lit);
  };

  /** Levels: the engine's picture, whose colours follow the theme by themselves, and ways to see neurons. */
  const levelsOf = (svg, { summary, ports }) => {
    const label = /aria-label="([^"]*)"/.exec(svg)?.[1] ?? "Levels of the network";
    const wanted = h("input", { id: "near", "data-testid": "near", value: ports.outputs[0], spellcheck: false });
    wanted.setAttribute("list", "near-names");
    const names = [...ports.outputs, ...ports.inputs].slice(0, 200).map((value) => h("option", { value }));
    const form = h("form", { className: "near", onsubmit: (event) => { event.preventDefault(); look({ around: wanted.value }); } },
      h("label", { htmlFor: "near" }, "A neuron, by name or id"), wanted, h("datalist", { id: "near-names" }, ...names),
      h("button", { type: "submit", className: "button small" }, "Show what is near it"),
      summary.neurons <= MOST_DRAWN ? button(`Draw all ${count(summary.neurons)} neurons`, () => look({ every: true }))
        : h("span", { className: "soft" }, "All of it is too large to be drawn."));
    return [h("img", { className: "levels-picture", alt: label, ariaLabel: label, src: `data:image/svg+xml,${encodeURIComponent(svg)}`, "data-testid": "graph" }), form];
  };
  const nearOf = ({ scene }, centre) => {
    const middle = scene.neurons.find(({ place }) => place === centre);
    return middle ? h("p", { className: "near", "data-testid": "near-neuron" }, `What is near ${middle.label}: ${counted(scene.neurons.length, "neuron")}. Click one, and its panel leads on.`,
      button("All of it", () => look({}))) : "";
  };

  return (state) => {
    const pair = state.other?.drawing ? state.other : null;
    if (state.drawn && (state.drawn !== drawn || pair !== compared)) {
      [drawn, compared] = [state.drawn, pair];
      open(state.drawn, state);
    }
    current?.play(state.player);
    current?.select(state.selected);
    if (state.lit === pointed || !current) return;
    pointed = state.lit;
    const neurons = current.scene.neurons.flatMap(({ place }, at) => (pointed.includes(place) ? [at] : []));
    current.light(neurons.length ? { neurons, edges: [] } : lit);
  };
}

const parts = ({ frame, key }, buttons) => [frame, h("div", { className: "zoom" }, ...buttons), key];

const sameNeurons = (one, other) => one.neurons.length === other.neurons.length
  && one.neurons.every(({ id, x, y }, place) => id === other.neurons[place].id && x === other.neurons[place].x && y === other.neurons[place].y);

/** A Drawing of what the engine has laid out. */
export function drawingOf(found, { onselect = null, onmeasure: moved = () => {} }) {
  const scene = sceneOf(found);
  const base = h("canvas", {
    role: "img", "data-testid": onselect ? "graph" : "other-graph",
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
  return new Drawing({ scene, base, over, tip, frame, key: h("div", { className: "key" }), onselect: onselect ?? (() => {}), onmeasure: moved });
}
