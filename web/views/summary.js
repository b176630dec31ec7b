// What the network is, in a few numbers, and which activations it uses.
import { $, count, counted, h, whenChanged } from "./dom.js";

export const summary = () => whenChanged((state) => state.result, (result) => {
  if (result) $("summary").replaceChildren(...describe(result.summary, result.ports));
});

function describe(net, { state }) {
  const rows = [
    ["Library", net.library],
    ["Shape", `${counted(net.inputs, "input")}, ${counted(net.outputs, "output")}`],
    ["Neurons", `${count(net.neurons)}, ${count(net.hidden)} of them hidden`],
    ["Connections", count(net.connections) + (net.disabled ? ` and ${count(net.disabled)} disabled` : "")],
    net.gated && ["Gated", counted(net.gated, "connection")],
    net.delayed && ["Delayed", counted(net.delayed, "connection")],
    ["Levels", count(net.levels)],
    Object.keys(net.windows).length && ["Space", Object.entries(net.windows)
      .map(([operator, number]) => `${count(number)} ${operator}`).join(", ")],
    ["Memory", net.has_memory
      ? `remembers: ${counted(state.length, "value")} from one step to the next` : "none"],
  ].filter(Boolean);
  return [
    facts(rows),
    tally("Activations", net.activations),
    tally("Aggregations", net.aggregations),
  ];
}

export const facts = (rows) => h("dl", { className: "facts" }, ...rows.flatMap(
  ([name, value, properties]) => [h("dt", {}, name), h("dd", properties ?? {}, value)],
));

function tally(title, counts) {
  return h("div", { className: "tally" }, h("h3", {}, title),
    h("ul", {}, ...Object.entries(counts).map(([name, number]) => h("li", {},
      `${name} `, h("span", { className: "soft" }, count(number))))));
}
