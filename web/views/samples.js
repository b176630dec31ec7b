// A network of each library, one with memory, and ONNX that NeatapticTS wrote, one click away.
import { $, h } from "./dom.js";

const SAMPLES = [
  ["NeatapticTS", "neataptic-ts.json"],
  ["neataptic", "neataptic.json"],
  ["neat-python", "neat-python.json"],
  ["an LSTM", "neataptic-ts-lstm.json"],
  ["a convolution", "neataptic-ts-conv.json"],
];

export function samples({ take }) {
  async function pick(name) {
    const response = await fetch(`samples/${name}`);
    take(new File([await response.blob()], name, { type: "application/json" }));
  }
  $("samples").append(...SAMPLES.map(([library, name]) => h("button", {
    type: "button",
    className: "sample",
    "data-testid": `sample-${name.replace(".json", "")}`,
    onclick: () => pick(name),
  }, library)));
  return () => {};
}
