// What a person has changed since the file was read, gene by gene, and the way back.
import { $, button, h, whenChanged } from "./dom.js";

export function changes({ undo, edited }) {
  return whenChanged((state) => state.result, (result, state) => {
    const edits = state.made?.edits ?? [];
    $("changes").hidden = !edits.length;
    if (!edits.length) return;
    $("changes").replaceChildren(h("h2", {}, "Changes"), h("ol", {}, ...edits.map((edit) => h("li", {}, inWords(edit)))),
      h("div", { className: "buttons" }, button("Undo", undo, { "data-testid": "undo" }), button("Undo all", () => edited([]))));
  });
}

function inWords({ gene, before, connection, neuron, pruned, enabled, ...rest }) {
  if (pruned) return `${gene ?? `neuron ${neuron}`} pruned`;
  if (enabled !== undefined) return `${gene ?? `connection ${connection}`} ${enabled ? "enabled" : "disabled"}`;
  const [[field, after]] = Object.entries(rest);
  return `${gene ?? "gene"}: ${field} ${before === undefined ? "" : `${show(before)} → `}${show(after)}`;
}

const show = (value) => (typeof value === "number" ? String(+value.toPrecision(4)) : value);
