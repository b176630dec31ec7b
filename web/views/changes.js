// What a person has changed since the file was read, gene by gene, and the way back.
import { $, h, whenChanged } from "./dom.js";

export function changes({ undo, edited }) {
  return whenChanged((state) => state.result, (result, state) => {
    const edits = state.made?.edits ?? [];
    $("changes").hidden = !edits.length;
    if (!edits.length) return;
    const said = h("ol", {}, ...edits.map((edit) => h("li", {}, inWords(edit))));
    $("changes").replaceChildren(h("h2", {}, "Changes"), said, h("div", { className: "buttons" },
      h("button", { type: "button", className: "button small", "data-testid": "undo", onclick: undo }, "Undo"),
      h("button", { type: "button", className: "button small", onclick: () => edited([]) }, "Undo all")));
  });
}

function inWords({ gene, before, connection, neuron, pruned, enabled, ...rest }) {
  if (pruned) return `${gene ?? `neuron ${neuron}`} pruned`;
  if (enabled !== undefined) return `${gene ?? `connection ${connection}`} ${enabled ? "enabled" : "disabled"}`;
  const [[field, after]] = Object.entries(rest);
  return `${gene ?? "gene"}: ${field} ${before === undefined ? "" : `${show(before)} → `}${show(after)}`;
}

const show = (value) => (typeof value === "number" ? String(+value.toPrecision(4)) : value);
