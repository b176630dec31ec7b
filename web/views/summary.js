// The network in a few numbers, with the activations that it uses; and the figures of the comparison.
import { $, count, counted, h, short, whenChanged } from "./dom.js";
import { parityFold } from "./parity.js";
import { whenReported } from "./verdict.js";

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

export const report = (actions) => whenReported((found, { result }) => {
  if (!result) return;
  const figures = found ? figuresOf(found, result) : [h("p", { className: "soft" }, "There are no figures yet.")];
  $("report").replaceChildren(...figures, ...(result.report ? [parityFold(actions)] : []));
});

const SAID = {
  network: "The network you dropped and its ONNX model were run on the same inputs.",
  model: "The imported network and the ONNX file you dropped were run on the same inputs.",
  changed: "The file you dropped was made valid ONNX: the imported network and that ONNX were run "
    + "on the same inputs.",
};

function figuresOf(found, { kind, changed }) {
  const said = SAID[changed ? "changed" : kind];
  return [
    h("p", { className: "soft" }, said),
    facts([
      ["Largest relative error", short(found.max_rel_error)],
      ["Largest error", short(found.max_abs_error)],
      ["MSE", short(found.mse), { "data-testid": "mse" }],
      ["Normalised MSE", short(found.normalised_mse), { "data-testid": "normalised-mse" }],
      ["Bound", short(found.bound)],
      [found.steps > 1 ? "Sequences" : "Samples", count(found.samples)],
      found.steps > 1 && ["Steps each", count(found.steps)],
      found.long_sequences && ["Long sequences", `${count(found.long_sequences)} of ${counted(found.long_steps, "step")}`],
      found.left_out && found.steps > 1 && [`Beyond ${found.dtype} from step`, count(found.overflow_step)],
      found.left_out && [`Left out, beyond ${found.dtype}`, counted(found.left_out, found.steps > 1 ? "sequence" : "sample")],
      typeof found.rounding === "number" && ["Rounding by itself", short(found.rounding)],
      ["Seed", String(found.seed)],
      ["Type", found.dtype],
      ["ONNX run by", found.runtime],
      found.not_finite && ["Not finite", `${count(found.not_finite)} of the outputs`],
    ].filter(Boolean)),
  ];
}
