// Runs inside a worker of its own: plays the samples of a comparison with onnxruntime-web.
// {id, layout, model, inputs} is answered once, by {id, runtime, outputs} or {id, error}; the layout
// is that of neat_onnx/page/runtime_check.py.
import { fetchCached } from "./cached-fetch.js";
import { fromHalf, toHalf } from "./half.js";

const here = new URL("./", import.meta.url);
let runtime = null; // onnxruntime-web, once it is asked for

async function load() {
  const response = await fetch(new URL("runtime/files.json", here));
  if (!response.ok) throw new Error(`its list of files could not be loaded: ${response.status}`);
  const { version, module, wasm } = await response.json();
  const packed = await fetchCached(wasm);
  const [ort, wasmBinary] = await Promise.all([
    import(new URL(module.file, here).href),
    new Response(packed.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer(),
  ]);
  Object.assign(ort.env.wasm, { wasmBinary, numThreads: 1, proxy: false });
  ort.env.logLevel = "error";
  return { ort, name: `onnxruntime-web ${version}` };
}

const product = (sizes) => sizes.reduce((total, size) => total * size, 1);

// The arrays of the types of onnxruntime-web.
const KINDS = {
  float16: Uint16Array, float32: Float32Array, float64: Float64Array, bool: Uint8Array,
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
};

/** The place of each column of a row, in a tensor whose rows are the axis `axis` beside these sizes. */
function placing(sizes, axis, rows) {
  const inner = product(sizes.slice(axis)); // numbers of a row that stand side by side
  return (row, column) => (Math.floor(column / inner) * rows + row) * inner + (column % inner);
}

/** The leading axes of a port of whole sequences, and the row there of each row of all steps. */
function ordered({ batch_first: swapped }, leading) {
  if (!swapped) return { leading, rowOf: (row) => row };
  const [steps, samples] = leading;
  return { leading: [samples, steps], rowOf: (row) => (row % samples) * steps + Math.floor(row / samples) };
}

/** A port's columns of rows of `width` numbers, as its tensor has them. */
function columns(values, width, port, leading) {
  const { from, to, type, sizes, batch_axis: axis } = port;
  const rows = product(leading);
  const taken = new KINDS[type](rows * (to - from));
  const read = type === "float16" ? toHalf : type.endsWith("int64") ? BigInt : Number;
  const place = placing(sizes, axis, rows);
  const { rowOf } = ordered(port, leading);
  for (let row = 0; row < rows; row += 1) {
    for (let column = from; column < to; column += 1) taken[place(rowOf(row), column - from)] = read(values[row * width + column]);
  }
  return taken;
}

/** The shape of a tensor with these leading axes at `axis` among its sizes; without them if it is null. */
function shaped(sizes, axis, leading) {
  return axis === null ? sizes : [...sizes.slice(0, axis), ...leading, ...sizes.slice(axis)];
}

/** The axis of the rows in an output: the stated one, or another of these dimensions that can be. */
function axisOf({ sizes, batch_axis: stated }, dims, rows) {
  const fits = (axis) => dims[axis] === rows && dims.filter((_, at) => at !== axis).join() === sizes.join();
  const found = [stated, ...dims.keys()].find(fits);
  return found ?? 0;
}

/** Run one step, or a whole sequence: rows of inputs → the outputs by name. */
class Session {
  constructor(ort, session, layout) {
    let from = 0;
    const outputs = layout.outputs.map((port) => ({ ...port, from: (from += port.columns) - port.columns }));
    Object.assign(this, { ort, session, layout, outputs, columns: from }); // columns of all outputs
  }

  tensor(type, values, sizes) {
    return new this.ort.Tensor(type, values, sizes);
  }

  run(rows, leading, width, states = {}) {
    const feeds = { ...states };
    for (const port of this.layout.inputs) {
      const axes = port.once ? leading.slice(1) : leading; // the first step is like the others
      const values = columns(rows, width, port, axes);
      feeds[port.name] = this.tensor(port.type, values, shaped(port.sizes, port.batch_axis, ordered(port, axes).leading));
    }
    return this.session.run(feeds);
  }

  start(samples) {
    return Object.fromEntries(this.layout.states.map(({ name, sizes, start, type, batch_axis: axis }) => {
      const values = new KINDS[type](samples * product(sizes));
      const place = placing(sizes, axis, samples);
      for (let sample = 0; sample < samples; sample += 1) {
        for (let column = 0; column < start.length; column += 1) values[place(sample, column)] = start[column];
      }
      return [name, this.tensor(type, values, shaped(sizes, axis, [samples]))];
    }));
  }

  /** Play inputs (steps, samples, width) from the initial state → outputs (steps, samples, all columns). */
  async play(x, [steps, samples, width]) {
    const played = new Float64Array(steps * samples * this.columns);
    if (this.layout.whole) {
      await this.playWhole(x, [steps, samples, width], played);
      return played;
    }
    let states = this.start(samples);
    for (let step = 0; step < steps; step += 1) {
      const results = await this.run(x.subarray(step * samples * width, (step + 1) * samples * width), [samples], width, states);
      states = Object.fromEntries(this.layout.states.map(({ name, following }) => [name, results[following]]));
      this.put(results, this.outputs, [samples], played, step * samples);
    }
    return played;
  }

  /** The same at once; an output of the last step alone, of as many sequences as there are steps. */
  async playWhole(x, [steps, samples, width], played) {
    const states = this.start(samples);
    const until = (step) => this.run(x.subarray(0, step * samples * width), [step, samples], width, states);
    const [last, every] = [true, false].map((alone) => this.outputs.filter((port) => port.last === alone));
    const whole = await until(steps);
    this.put(whole, every, [steps, samples], played, 0);
    for (let step = 1; last.length && step <= steps; step += 1) {
      this.put(step < steps ? await until(step) : whole, last, [samples], played, (step - 1) * samples);
    }
  }

  /** Put the outputs of ports into their columns, from a row on: one for each sample. */
  put(results, ports, leading, played, first) {
    const rows = product(leading);
    for (const port of ports) {
      const { name, columns: each, sizes, from } = port;
      const { data: given, dims, type } = results[name];
      const data = type === "float16" ? Float64Array.from(new Uint16Array(given.buffer, given.byteOffset, given.length), fromHalf) : given;
      if (data.length !== rows * each) throw new Error(`the output ${name} has ${data.length} numbers, expected ${rows * each}`);
      const place = placing(sizes, axisOf(port, dims, rows), rows);
      const { rowOf } = ordered(port, leading);
      for (let row = 0; row < rows; row += 1) {
        for (let column = 0; column < each; column += 1) played[(first + row) * this.columns + from + column] = Number(data[place(rowOf(row), column)]);
      }
    }
  }

  /** The same for a model that takes one sample at a time. */
  async playEach(x, [steps, samples, width]) {
    const played = new Float64Array(steps * samples * this.columns);
    for (let sample = 0; sample < samples; sample += 1) {
      const alone = new Float64Array(steps * width);
      for (let step = 0; step < steps; step += 1) {
        const from = (step * samples + sample) * width;
        alone.set(x.subarray(from, from + width), step * width);
      }
      const rows = await this.play(alone, [steps, 1, width]);
      for (let step = 0; step < steps; step += 1) {
        played.set(rows.subarray(step * this.columns, (step + 1) * this.columns), (step * samples + sample) * this.columns);
      }
    }
    return played;
  }
}

async function run({ layout, model, inputs }) {
  runtime ??= load();
  const { ort, name } = await runtime.catch((error) => {
    runtime = null; // the next one may try again
    throw error;
  });
  const created = await ort.InferenceSession.create(model, { executionProviders: ["wasm"] });
  const session = new Session(ort, created, layout);
  try {
    const x = new Float64Array(inputs.buffer);
    const played = [];
    let from = 0;
    for (const shape of layout.parts) {
      const part = x.subarray(from, from += product(shape));
      played.push(await (layout.fixed ? session.playEach(part, shape) : session.play(part, shape)));
    }
    const outputs = new Float64Array(played.reduce((sum, { length }) => sum + length, 0));
    played.reduce((at, values) => (outputs.set(values, at), at + values.length), 0);
    return { runtime: name, outputs: outputs.buffer };
  } finally {
    await created.release();
  }
}

self.onmessage = async ({ data: { id, ...request } }) => {
  try {
    const answer = await run(request);
    self.postMessage({ id, ...answer }, [answer.outputs]);
  } catch (error) {
    self.postMessage({ id, error: String(error?.message ?? error).slice(0, 400) });
  }
};
