// Networks that the page brings along: six that show what there is to see, and one of each library.
import { stemOf } from "./files.js";

/** [what it shows, file], with a picture. */
export const SHOWN = [
  ["XOR", "xor.json"],
  ["an LSTM", "neataptic-ts-lstm.json"],
  ["a convolution", "neataptic-ts-conv.json"],
  ["a CPPN, which paints", "cppn.json"],
  ["300 neurons", "neurons-300.json"],
  ["a population", "neat-checkpoint-30"],
];

/** [library, file, facts that the file does not say] */
export const SAMPLES = [
  ["NeatapticTS", "neataptic-ts.json"],
  ["neataptic", "neataptic.json"],
  ["neat-python", "neat-python.json"],
  ["synaptic", "synaptic.json"],
  ["carrot", "carrot.json"],
  ["brain.js", "brain.js.json"],
  ["SharpNEAT", "sharpneat.net"],
  ["WANN", "wann.out"],
  ["goNEAT", "goneat.neat"],
  ["TensorNEAT", "tensorneat.json", { inputs: 2, outputs: 1, cycles: null }],
  ["FANN", "fann.net"],
];

const known = (stem) => [...SHOWN, ...SAMPLES].find(([, file]) => stemOf(file) === stem) ?? [stem, `${stem}.json`];

/** The file of a sample, by its name without ending. */
export const fileOfSample = (stem) => known(stem)[1];

/** The facts that the file of a sample does not say; null if it says all. */
export const factsOfSample = (stem) => known(stem)[2] ?? null;

/** Fetch a sample as a file, by its name without ending. */
export async function loadSample(stem) {
  const name = fileOfSample(stem);
  const response = await fetch(`samples/${encodeURIComponent(name)}`).catch(() => null);
  if (!response?.ok) {
    throw { message: "this sample could not be fetched", hint: "Check the connection, then try again" };
  }
  return new File([await response.blob()], name);
}
