// Runs inside a worker of its own: plays the samples of a comparison with onnxruntime-web.
// {id, runs, model, tensors} is answered once, by {id, runtime, runs, outputs} or {id, error}; the runs
// are those of neat_onnx/page/runtime_check.py.
import { fetchCached } from "./cached-fetch.js";

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

// The arrays of the types of onnxruntime-web.
const KINDS = {
  float16: globalThis.Float16Array ?? Uint16Array, float32: Float32Array, float64: Float64Array, bool: Uint8Array,
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
};

/** Run a model time after time; a state is what an earlier run has given. */
async function play(ort, session, runs, tensors) {
  const results = [];
  let at = 0;
  const taken = ({ type, dims }) => {
    const size = dims.reduce((total, each) => total * each, KINDS[type].BYTES_PER_ELEMENT);
    return new ort.Tensor(type, new KINDS[type](tensors.slice(at, at += size)), dims);
  };
  for (const run of runs) {
    const feeds = Object.entries(run).map(([name, entry]) => [name, "run" in entry ? results[entry.run][entry.output] : taken(entry)]);
    results.push(await session.run(Object.fromEntries(feeds)));
  }
  return results;
}

/** The outputs of all runs: {type, dims} of each tensor by name, and their bytes one after the other. */
function packed(results) {
  const all = results.flatMap((result) => Object.values(result));
  const outputs = new Uint8Array(all.reduce((total, { data }) => total + data.byteLength, 0));
  let at = 0;
  for (const { data } of all) {
    outputs.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  const said = (result) => Object.fromEntries(Object.entries(result).map(([name, { type, dims }]) => [name, { type, dims }]));
  return { runs: results.map(said), outputs: outputs.buffer };
}

async function run({ runs, model, tensors }) {
  runtime ??= load();
  const { ort, name } = await runtime.catch((error) => {
    runtime = null; // the next one may try again
    throw error;
  });
  const session = await ort.InferenceSession.create(model, { executionProviders: ["wasm"] });
  try {
    return { runtime: name, ...packed(await play(ort, session, runs, tensors.buffer)) };
  } finally {
    await session.release();
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
