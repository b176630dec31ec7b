// Runs one model in onnxruntime-web under Node, by JSON lines: {model, optimize} first, then {feeds}
// again and again. Tensors are {type, dims, data}, their data in base64.
import { createInterface } from "node:readline";

const ARRAYS = { float16: Uint16Array, float32: Float32Array, float64: Float64Array };
const write = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");
const ort = await import("onnxruntime-web").catch(() => null);
let session = null;

async function answer({ model, optimize, feeds }) {
  if (ort === null) return { missing: true };
  if (model) {
    ort.env.wasm.numThreads = 1;
    ort.env.logLevel = "fatal";
    const bytes = new Uint8Array(Buffer.from(model, "base64"));
    const options = { executionProviders: ["wasm"], graphOptimizationLevel: optimize };
    session = await ort.InferenceSession.create(bytes, options);
    return { version: ort.env.versions.web };
  }
  const entries = Object.entries(feeds).map(([name, { type, dims, data }]) => {
    const { buffer, byteOffset, byteLength } = Buffer.from(data, "base64");
    const bytes = buffer.slice(byteOffset, byteOffset + byteLength);
    return [name, new ort.Tensor(type, new ARRAYS[type](bytes), dims)];
  });
  const results = await session.run(Object.fromEntries(entries));
  const outputs = Object.entries(results).map(([name, { type, dims, data }]) => {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    return [name, { type, dims, data: bytes.toString("base64") }];
  });
  return { outputs: Object.fromEntries(outputs) };
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    write(await answer(JSON.parse(line)));
  } catch (error) {
    write({ error: String(error?.message ?? error).split("\n")[0] });
  }
}
