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
export const missingFileOf = ({ kind, asks = null }) => (kind === "ConfigurationNeeded" ? "configuration" : asks);

/** The file that came, as long as the page asks for the other one. */
export class NeatPythonFiles {
  #genome = null; // the conversion that waits for its configuration
  #configuration = null; // what waits for its genome

  /** What to convert now that `wanted` failed for `reason`; null if nothing can be done about it. */
  completed(wanted, reason) {
    const asked = missingFileOf(reason);
    const whole = this.#whole(wanted, asked);
    this.done();
    if (whole) return whole;
    if (asked === "genome") this.#configuration = { name: wanted.name, load: wanted.load };
    else if (asked || wanted.configuration) this.#genome = wanted; // perhaps with a wrong one
    return null;
  }

  #whole(wanted, asked) {
    if (asked === "genome") {
      const { name, load } = wanted;
      return this.#genome && { ...this.#genome, configuration: { name, load } };
    }
    return asked && !wanted.configuration && this.#configuration
      ? { ...wanted, configuration: this.#configuration } : null;
  }

  /** Nothing is asked for: a configuration that was used is not that of the next genome. */
  done() {
    this.#genome = null;
    this.#configuration = null;
  }
}
