// Runs a network as neat_onnx/page/plan.py compiled it: a step at a time, in float64.
import { aggregate, scalar } from "./formula.js";

const FLOATS = new Set(["bias", "response", "initial", "weight", "initial_gain"]);

export class Evaluator {
  /**
   * @param document {activations, aggregations, past}: the formulas, and the longest delay
   * @param arrays {name: Uint8Array}, little-endian, as the plan says
   */
  constructor({ activations, aggregations, past }, arrays) {
    for (const [name, bytes] of Object.entries(arrays)) {
      const { buffer } = bytes.byteOffset % 8 ? bytes.slice() : bytes;
      const [start, size] = bytes.byteOffset % 8 ? [0, bytes.byteLength] : [bytes.byteOffset, bytes.byteLength];
      this[name] = FLOATS.has(name) ? new Float64Array(buffer, start, size / 8) : new Int32Array(buffer, start, size / 4);
    }
    this.functions = activations.map(scalar);
    this.aggregates = aggregations.map(aggregate);
    this.depth = past + 1; // rows of the rings below: now, and each step that is still read
    const size = this.bias.length;
    this.activations = Array.from({ length: this.depth }, () => new Float64Array(size));
    this.states = Array.from({ length: this.depth }, () => new Float64Array(size));
    this.reset();
  }

  get size() {
    return this.bias.length;
  }

  get hasMemory() {
    return this.depth > 1;
  }

  /** Forget every step. */
  reset() {
    this.time = 0;
    for (const row of [...this.activations, ...this.states]) row.set(this.initial);
  }

  /** What is remembered, to be given to `restore`. */
  save() {
    const rows = (ring) => (this.hasMemory ? ring.map((row) => row.slice()) : []);
    return { time: this.time, activations: rows(this.activations), states: rows(this.states) };
  }

  restore({ time, activations, states }) {
    this.time = time;
    activations.forEach((row, place) => this.activations[place].set(row));
    states.forEach((row, place) => this.states[place].set(row));
  }

  /** Take one step; returns the activations of all neurons, which the next step may overwrite. */
  step(inputs) {
    const now = this.time % this.depth;
    const [a, z] = [this.activations[now], this.states[now]];
    this.inputs.forEach((neuron, place) => { a[neuron] = z[neuron] = inputs[place]; });
    for (const neuron of this.order) {
      z[neuron] = this.bias[neuron] + this.response[neuron] * this.#aggregate(neuron);
      a[neuron] = this.functions[this.activation[neuron]](z[neuron]);
    }
    this.time += 1;
    return a;
  }

  /** The outputs of an array of activations. */
  outputsOf(activations) {
    return Array.from(this.outputs, (neuron) => activations[neuron]);
  }

  /** w · gain · v of an edge at the step that was taken last. */
  flow(edge) {
    return this.#weighted(edge, this.time - 1);
  }

  /** The pre-activation of a neuron at the step that was taken last. */
  preactivation(neuron) {
    return this.states[(this.time - 1 + this.depth) % this.depth][neuron];
  }

  #aggregate(neuron) {
    const [from, to] = [this.first[neuron], this.first[neuron + 1]];
    const kind = this.aggregation[neuron];
    if (kind < 0) {
      let sum = 0;
      for (let edge = from; edge < to; edge += 1) sum += this.#weighted(edge, this.time);
      return sum;
    }
    const values = [];
    for (let edge = from; edge < to; edge += 1) values.push(this.#weighted(edge, this.time));
    return this.aggregates[kind](values);
  }

  #weighted(edge, time) {
    const ring = this.state[edge] ? this.states : this.activations;
    const then = time - this.delay[edge];
    const source = this.source[edge];
    const value = then >= 0 ? ring[then % this.depth][source] : this.initial[source];
    const gater = this.gater[edge];
    if (gater < 0) return this.weight[edge] * value;
    const written = time - this.gate_delay[edge];
    const gain = written >= 0 ? this.activations[written % this.depth][gater] : this.initial_gain[edge];
    return this.weight[edge] * gain * value;
  }
}
