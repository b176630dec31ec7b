// What the colours, widths and dashes of the drawing mean; a click on an entry hides what it stands for.
import { count, h } from "./dom.js";
import { FAMILIES } from "./paint.js";

/** Whether a connection is drawn, but for looks that are hidden. */
export function shows({ enabled, weight, delay, gater }, hiding) {
  if (!hiding.size) return true;
  if (!enabled) return !hiding.has("disabled");
  return !(hiding.has(weight < 0 ? "negative" : "positive") || (delay > 0 && hiding.has("delayed")) || (gater >= 0 && hiding.has("gate")));
}

/** The key to a scene; `live` once colours say what flows rather than what there is. */
export function legend({ neurons, connections, layers }, { live, heavy, hiding, toggle }) {
  const some = (test) => connections.some(test);
  const entry = (name, mark, text) => h("li", {}, h("button", {
    type: "button", ariaPressed: String(!hiding.has(name)), title: "Show or hide",
    onclick: ({ currentTarget }) => { toggle(name); currentTarget.ariaPressed = String(!hiding.has(name)); },
  }, h("span", { className: mark, ariaHidden: "true" }), text));
  const plain = (mark, text) => h("li", {}, h("span", { className: mark, ariaHidden: "true" }), text);
  const what = live ? "carries a" : "";
  return h("ul", { className: "legend" },
    ...families(neurons).map(([name, number]) => entry(name, `swatch ${live ? "ring " : ""}tint-${name}`, `${FAMILIES[name]} ${count(number)}`)),
    entry("positive", "stroke positive", live ? `${what} positive value` : "positive weight"),
    entry("negative", "stroke negative", live ? `${what} negative value` : "negative weight"),
    live ? plain("stroke scale", "thicker: carries more") : plain("stroke scale", `thicker: larger weight, up to ${+heavy.toPrecision(3)}`),
    some(({ enabled, delay }) => enabled && delay > 0) ? entry("delayed", "stroke delayed", "reads an earlier step") : "",
    some(({ enabled }) => !enabled) ? entry("disabled", "stroke disabled", "disabled") : "",
    some(({ enabled, gater }) => enabled && gater >= 0) ? entry("gate", "gate", "multiplied by a gate") : "",
    layers.length ? plain("box", `layer: ${[...new Set(layers.map(({ label }) => label))].join(", ")}`) : "",
    neurons.some(({ idle }) => idle) ? plain("swatch idle", "reaches no output") : "");
}

/** [family, how many neurons]. */
function families(neurons) {
  const counts = new Map();
  for (const { family } of neurons) counts.set(family, (counts.get(family) ?? 0) + 1);
  return [...counts];
}
