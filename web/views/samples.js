// A network of each library, one with memory, and ONNX that NeatapticTS wrote, one click away.
import { stemOf } from "../files.js";
import { $, h, whenChanged } from "./dom.js";

const SAMPLES = [
  ["NeatapticTS", "neataptic-ts.json"],
  ["neataptic", "neataptic.json"],
  ["neat-python", "neat-python.json"],
  ["an LSTM", "neataptic-ts-lstm.json"],
  ["a convolution", "neataptic-ts-conv.json"],
];

/** Fetch a sample as a file, by its name without ending. */
export async function loadSample(stem) {
  const name = `${stem}.json`;
  const response = await fetch(`samples/${encodeURIComponent(name)}`).catch(() => null);
  if (!response?.ok) {
    throw { message: "this sample could not be fetched", hint: "Check the connection, then try again" };
  }
  return new File([await response.blob()], name, { type: "application/json" });
}

export function samples({ take }) {
  const buttons = SAMPLES.map(([library, name]) => h("button", {
    type: "button",
    className: "sample",
    "data-testid": `sample-${stemOf(name)}`,
    onclick: () => take(name, () => loadSample(stemOf(name)), { sample: stemOf(name) }),
  }, library));
  $("samples").append(...buttons);
  return whenChanged((state) => state.job?.name ?? "", (under) => {
    SAMPLES.forEach(([, name], place) => buttons[place].setAttribute("aria-busy", String(name === under)));
  });
}
