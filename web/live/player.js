// A network being played with: its inputs, the steps taken, and which of them is looked at.

const MOST_NUMBERS = 4e6; // kept of the past; older steps are forgotten
const INTERVAL = 250; // ms between two steps while it plays

export class Player {
  #evaluator;
  #listeners = new Set();
  #timer = 0;
  #sequence = null; // step → inputs

  /** @param evaluator an Evaluator of live/evaluator.js, which nobody else steps */
  constructor(evaluator) {
    this.#evaluator = evaluator;
    this.touched = false; // whether anybody has played with it
    this.inputs = new Float64Array(evaluator.inputs.length);
    this.reset();
    this.touched = false;
  }

  get evaluator() {
    return this.#evaluator;
  }

  get hasMemory() {
    return this.#evaluator.hasMemory;
  }

  get playing() {
    return this.#timer !== 0;
  }

  /** Whether there is more than one step to look at: it remembers, or follows a sequence. */
  get hasSteps() {
    return this.hasMemory || this.#sequence !== null;
  }

  /** Take inputs from a sequence, a function of the step from 0, or null for by hand; from a reset on. */
  follow(sequence, rows = null) {
    this.#sequence = sequence;
    this.rows = rows; // those that a person gave
    this.reset();
  }

  /** The step looked at: {number, inputs, activations, outputs}. */
  get frame() {
    return this.frames[this.cursor];
  }

  /** Call `listener` after each change. Returns what ends that. */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Give inputs, from a place on; the step looked at is taken anew, and later ones are forgotten. */
  give(values, from = 0) {
    values.forEach((value, place) => {
      if (from + place < this.inputs.length) this.inputs[from + place] = value;
    });
    this.frames.length = this.cursor;
    this.#take();
  }

  /** Take the step after the one looked at, with the inputs that there are. */
  step() {
    if (this.cursor < this.frames.length - 1) return this.look(this.cursor + 1);
    this.cursor += 1;
    this.#advance();
  }

  /** Look at a step that was taken. */
  look(place) {
    this.cursor = Math.max(0, Math.min(this.frames.length - 1, place));
    this.inputs.set(this.frame.inputs);
    this.resume();
    this.#notify();
  }

  /** Forget every step, and take the first one with the inputs that there are. */
  reset() {
    this.stop();
    this.frames = [];
    this.last = {}; // the step that was forgotten last
    this.forgotten = 0;
    this.cursor = 0;
    this.#advance();
  }

  /** Take a step with the inputs that the sequence has for it, if there is one. */
  #advance() {
    if (this.#sequence) this.inputs.set(this.#sequence(this.forgotten + this.cursor));
    this.#take();
  }

  /** After genes were changed in the evaluator: take the step looked at anew. */
  refresh() {
    this.frames.length = this.cursor;
    this.#take();
  }

  /** Go on with the inputs of another player of as many. */
  continued({ inputs, touched }) {
    if (inputs.length === this.inputs.length && touched) this.give([...inputs]);
    return this;
  }

  play() {
    if (this.playing) return;
    this.#timer = setInterval(() => this.step(), INTERVAL);
    this.#notify();
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#notify();
  }

  /** What a connection carries at the step looked at. */
  flow(edge) {
    return this.#evaluator.flow(edge);
  }

  /** Outputs for other inputs, from the reset state; the step looked at stays. */
  probe(inputs) {
    this.#evaluator.reset();
    return this.#evaluator.outputsOf(this.#evaluator.step(inputs));
  }

  #take() {
    this.#remember();
    const activations = this.#evaluator.step(this.inputs).slice();
    const outputs = this.#evaluator.outputsOf(activations);
    const number = this.forgotten + this.cursor + 1;
    const after = this.hasMemory ? this.#evaluator.save() : null;
    this.frames[this.cursor] = { number, inputs: this.inputs.slice(), activations, outputs, after };
    this.touched = true;
    this.#forget();
    this.#notify();
  }

  /** Have the evaluator at the step looked at, after probing as well. */
  resume() {
    this.#remember();
    this.#evaluator.step(this.frame.inputs);
  }

  /** Have the evaluator remember what was before the step that the cursor stands on. */
  #remember() {
    const { after } = this.cursor ? this.frames[this.cursor - 1] : this.last;
    if (after) this.#evaluator.restore(after);
    else this.#evaluator.reset();
  }

  #forget() {
    const each = this.#evaluator.size * (this.hasMemory ? 1 + 4 * this.#evaluator.depth : 1);
    const most = Math.max(2, Math.floor(MOST_NUMBERS / each));
    while (this.frames.length > most) {
      this.last = this.frames.shift();
      this.forgotten += 1;
      this.cursor -= 1;
    }
  }

  #notify() {
    for (const listener of this.#listeners) listener();
  }
}
