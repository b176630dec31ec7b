// The inspector's parts, one below the other, and the way to each.
import { $, h, whenChanged } from "./dom.js";

const PARTS = { Network: "network-section", Neuron: "neuron", Check: "check-section", Model: "model-section", Export: "export-section" };

export function inspector({ select }) {
  const go = (id) => {
    if (id === "neuron" && $("neuron").hidden) select(0);
    requestAnimationFrame(() => $(id).scrollIntoView({ block: "start" }));
  };
  const buttons = Object.entries(PARTS).map(([title, id]) => h("button", { type: "button", onclick: () => go(id) }, title));
  $("inspector-nav").append(...buttons);
  return whenChanged((state) => state.drawn, (drawn) => { buttons[1].disabled = !drawn?.graph; });
}
