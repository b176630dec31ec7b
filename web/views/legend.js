// What the colours, widths and dashes of the drawing mean.
import { count, h } from "./dom.js";
import { family, TITLES } from "./palette.js";

/** The key to a scene; `live` once colours say what flows rather than what there is. */
export function legend({ neurons, connections, layers }, omitted, live) {
  const delayed = connections.some(({ enabled, delay }) => enabled && delay > 0);
  const disabled = connections.some(({ enabled }) => !enabled);
  return h("ul", { className: "legend" },
    ...families(neurons, live),
    entry("stroke positive", live ? "carries a positive value" : "positive weight"),
    entry("stroke negative", live ? "carries a negative value" : "negative weight"),
    h("li", {}, live ? "thicker: carries more" : "thicker: larger weight"),
    delayed ? entry("stroke delayed", "reads an earlier step") : "",
    disabled ? entry("stroke disabled", "disabled") : "",
    connections.some(({ enabled, gater }) => enabled && gater >= 0) ? entry("gate", "multiplied by a gate") : "",
    layers.length ? entry("box", `layer: ${[...new Set(layers.map(({ label }) => label))].join(", ")}`) : "",
    omitted ? h("li", {}, `${count(omitted)} light connections not drawn`) : "");
}

const entry = (mark, text) => h("li", {}, h("span", { className: mark, ariaHidden: "true" }), text);

function families(neurons, live) {
  const counts = new Map();
  for (const { kind, activation } of neurons) {
    const name = kind === "input" ? "input" : family(activation);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const rings = [...counts].map(([name, number]) => entry(`swatch ${live ? "ring " : ""}tint-${name}`,
    `${name === "input" ? "input" : TITLES[name]} ${count(number)}`));
  return live ? [entry("swatch active", "active"), entry("swatch inhibited", "negative"), ...rings] : rings;
}
