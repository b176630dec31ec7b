// The two files of neat-python, a genome and its configuration. Each may come alone: then the other
// one is asked for, and both are converted as one.

const SECTION = /^\s*\[(NEAT|Default\w+)\]/m;

/** Whether bytes are a configuration of neat-python. */
export function isConfiguration(data) {
  const text = new TextDecoder().decode(new Uint8Array(data, 0, Math.min(data.byteLength, 65_536)));
  return !/^\s*\{/.test(text) && SECTION.test(text);
}

/** The error for a configuration that came in place of a network. */
export const genomeMissing = { kind: "MissingFile", message: "this is a configuration of neat-python", asks: "genome" };

/** Which file an error asks for: "configuration", "genome" or null. */
export function missingFileOf({ kind, message, where, asks }) {
  if (asks) return asks;
  return kind === "OptionError" && where === "config" && /configuration is needed/.test(message) ? "configuration" : null;
}

/** The files that came so far. */
export class NeatPythonFiles {
  #genome = null; // the conversion that waits for its configuration
  #configuration = null; // the last that came

  /** What to convert now that `wanted` failed for `reason`; null if nothing can be done about it. */
  completed(wanted, reason) {
    const asked = missingFileOf(reason);
    if (asked === "genome") {
      const { name, load } = wanted;
      this.#configuration = { name, load };
      return this.#genome && { ...this.#genome, configuration: this.#configuration };
    }
    if (asked === "configuration" || wanted.configuration) this.#genome = wanted;
    return asked && !wanted.configuration && this.#configuration
      ? { ...wanted, configuration: this.#configuration } : null;
  }

  /** A conversion went well: what comes next belongs to another genome. */
  done() {
    this.#genome = null;
  }
}
