// What differs: of two files, gene by gene and by their outputs; and of one, what a person has changed since it was read.
import { $, button, count, counted, h, plain, short, whenChanged } from "./dom.js";
import { scatter } from "./parity.js";

const MOST = 200; // genes listed of a kind

export function difference() {
  return whenChanged((state) => state.other, (other) => {
    $("difference").hidden = !other;
    if (!other) return;
    $("difference-title").lastElementChild.textContent = other.name;
    $("difference-body").replaceChildren(...(other.failed
      ? [h("p", { className: "warning" }, `It could not be compared: ${other.failed}.`)]
      : [h("div", { className: "pair" }, byGenome(other.genome), byFunction(other.function))]));
  });
}

function byGenome({ weights, rounded, ...genome }) {
  const neuron = (id) => `neuron ${id}`;
  const kinds = [
    ["neuron", "added", genome.neurons_added.map(neuron)],
    ["neuron", "gone", genome.neurons_gone.map(neuron)],
    ["connection", "added", genome.connections_added],
    ["connection", "gone", genome.connections_gone],
    ["connection", "enabled", genome.enabled],
    ["connection", "disabled", genome.disabled],
    ["weight", rounded === weights.length ? "rounded to float32" : "changed", weights.map(line)],
    ["other gene", "changed", genome.others.map(line)],
  ].filter(([, , genes]) => genes.length);
  const said = kinds.length ? kinds.map(fold) : [h("p", {}, "They are the same, gene by gene.")];
  return h("div", {}, h("h3", {}, "By genome"), ...said);
}

function line({ gene, field, before, after }) {
  const said = field === "weight" ? gene : `${gene}, ${field}`;
  return `${said}: ${value(before)} → ${value(after)}`;
}

const value = (given) => (typeof given === "number" ? String(+given.toPrecision(6)) : String(given ?? "none"));

function fold([noun, change, genes]) {
  const shown = genes.slice(0, MOST).map((gene) => h("li", {}, gene));
  const rest = genes.length - shown.length;
  return h("details", { className: "genes" }, h("summary", {}, `${counted(genes.length, noun)} ${change}`),
    h("ul", { tabIndex: 0 }, ...shown, rest > 0 ? h("li", {}, `and ${count(rest)} more`) : null));
}

function byFunction(pairs) {
  const head = h("h3", {}, "By function");
  if (!pairs) return h("div", {}, head, h("p", {}, "They do not have the same numbers of inputs and outputs."));
  const { most } = pairs;
  return h("div", {}, head,
    h("p", {}, most === 0 ? "On the same random inputs they gave the very same numbers."
      : `On the same random inputs they were up to ${most < 1e-6 ? short(most) : plain(most)} apart.`),
    h("figure", {}, scatter(pairs, "The other file against this one"),
      h("figcaption", { className: "soft" }, `This file across, the other up: ${count(pairs.network.length)} of ${count(pairs.total)} outputs.`)));
}

/** The changes since the file was read, and the way back. */
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
  return `${gene ?? "gene"}: ${field} ${before === undefined ? "" : `${value(before)} → `}${value(after)}`;
}
