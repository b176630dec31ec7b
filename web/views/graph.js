// The network drawn: inputs left, outputs right; alive once it is played with.
import { density } from "./density.js";
import { $, count, counted, h, whenChanged } from "./dom.js";
import { Drawing } from "./drawing.js";
import { sceneOf } from "./scene.js";

export function graph({ select }) {
  let drawn = null;
  const open = (result, found, every) => {
    drawn?.stop();
    drawn = null;
    if (found.density && !every) { // there are many neurons: layers of them are drawn, unless asked otherwise
      const more = found.graph && h("button", { type: "button", className: "button", onclick: () => open(result, found, true) },
        `Draw all ${count(result.summary.neurons)} neurons`);
      $("graph").replaceChildren(density(found.density), h("div", { className: "buttons" }, more));
      return;
    }
    drawn = picture(labelled(found.graph, result.ports), select);
    $("graph").replaceChildren(...drawn.elements);
    drawn.resize();
  };
  const build = whenChanged((state) => state.drawn, (found, { result }) => { if (found) open(result, found, false); });
  return (state) => {
    build(state);
    drawn?.play(state.player);
    drawn?.point(state.selected);
    drawn?.light(state.lit);
  };
}

/** The drawing's neurons, each with a label: its name, its place among inputs or outputs, or its id. */
function labelled({ neurons, ...rest }, ports) {
  const labels = neurons.map(({ name, id }) => name || String(id));
  ports.input_neurons.forEach((neuron, place) => { labels[neuron] = ports.inputs[place]; });
  ports.output_neurons.forEach((neuron, place) => { labels[neuron] = ports.outputs[place]; });
  return { neurons: neurons.map((neuron, place) => ({ ...neuron, label: labels[place] })), ...rest };
}

function picture({ neurons, connections, layers, omitted }, select) {
  const scene = sceneOf({ neurons, connections, layers });
  const base = h("canvas", {
    role: "img", "data-testid": "graph",
    ariaLabel: `Drawing of ${counted(neurons.length, "neuron")} in ${scene.columns} columns, `
      + `with ${counted(connections.length, "connection")}`
      + layers.map(({ label, neurons: inside }) => `; ${label} of ${counted(inside.length, "neuron")}`).join(""),
  });
  base.scene = scene; // for who saves it as a picture
  const over = h("canvas", { className: "over", ariaHidden: "true" });
  const tip = h("p", { className: "tip", hidden: true });
  const frame = h("div", {
    className: "frame", tabIndex: 0, role: "group",
    ariaLabel: "The drawing. Arrow keys go from neuron to neuron; plus and minus zoom, 0 fits.",
  }, base, over, tip);
  const key = h("div");
  const drawing = new Drawing({ scene, base, over, tip, frame, key, omitted, onselect: select });
  return {
    elements: [h("div", { className: "zoom" }, ...drawing.buttons()), frame, key],
    resize: () => drawing.resize(),
    play: (player) => drawing.play(player),
    point: (neuron) => drawing.select(neuron),
    light: (neurons) => drawing.light(neurons),
    stop: () => drawing.stop(),
  };
}
