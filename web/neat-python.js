// The two files of neat-python, a genome and its configuration. Each may come alone: then the other one is asked
// for, and both are converted as one.

const SECTION = /^\s*\[(NEAT|Default\w+)\]/m;

/** Whether bytes are a configuration of neat-python. */
export function isConfiguration(data) {
  const text = new TextDecoder().decode(new Uint8Array(data, 0, Math.min(data.byteLength, 65_536)));
  return !/^\s*\{/.test(text) && SECTION.test(text);
}

/** The error for a configuration that came in place of a network. */
export const genomeMissing = { kind: "MissingFile", message: "this is a configuration of neat-python", asks: "genome" };

/** Which file an error asks for: "configuration", "genome" or null. */
export const missingFileOf = ({ kind, asks = null }) => (kind === "ConfigurationNeeded" ? "configuration" : asks);

const fileOf = ({ name, load }) => ({ name, load });

/**
 * What to convert now that `wanted` failed and asks for a file; null if it has to come first.
 * @param before {asks, wanted}: what the file before asked for, and what it was
 */
export function completed(wanted, asks, before) {
  if (asks === "genome" && before.asks === "configuration") return { ...before.wanted, configuration: fileOf(wanted) };
  if (asks === "configuration" && before.asks === "genome" && !wanted.configuration) return { ...wanted, configuration: fileOf(before.wanted) };
  return null;
}
