// Runs models in onnxruntime-web, the runtime of browsers, under Node.
// Usage: node play_in_web.mjs JOBS.json: a list of {model, dims, x}; prints the outputs as JSON.
import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-web";

ort.env.wasm.numThreads = 1;
const outputs = [];
for (const { model, dims, x } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const session = await ort.InferenceSession.create(new Uint8Array(readFileSync(model)), {
    executionProviders: ["wasm"],
  });
  const input = new ort.Tensor("float32", Float32Array.from(x), dims);
  const { output } = await session.run({ input });
  outputs.push({ dims: output.dims, y: Array.from(output.data) });
}
console.log(JSON.stringify(outputs));
