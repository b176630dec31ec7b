// The check of a result by a second runtime: the engine gives the model and the inputs, a worker runs
// them, and the engine reports on the outputs. It starts after the verdict; whoever needs the engine
// comes first.
import { Cancelled } from "./engine.js";
import { workerOf } from "./spawn.js";

let worker = null; // of web/runtime-worker.js, kept for the next result
let waiting = null; // {id, resolve, reject} of the run that is under way
let next = 1;

function run(task, transfer) {
  if (!worker) {
    worker = workerOf("runtime-worker.js");
    worker.onmessage = ({ data }) => {
      if (!waiting || data.id !== waiting.id) return;
      if (data.error || data.fatal) waiting.reject(new Error(data.error ?? data.fatal.message));
      else waiting.resolve(data);
    };
    worker.onerror = (event) => waiting?.reject(new Error(event.message || "its worker could not start"));
  }
  const id = next++;
  return new Promise((resolve, reject) => {
    waiting = { id, resolve, reject };
    worker.postMessage({ id, ...task }, transfer);
  });
}

/** End the check that is under way. */
export function endCheck() {
  if (!waiting) return;
  worker.terminate();
  worker = null;
  waiting.reject(new Cancelled("cancelled"));
  waiting = null;
}

/** The report of onnxruntime-web on what the engine converted last. */
export async function checkByRuntime(engine) {
  const { result, blobs: { model, tensors } } = await engine.call("runtime_inputs");
  try {
    const { outputs, ...said } = await run({ ...result, model, tensors }, [model.buffer, tensors.buffer]);
    waiting = null;
    return (await engine.call("runtime_report", { runtime: said.runtime, runs: said.runs }, outputs)).result;
  } catch (error) {
    endCheck();
    throw error;
  }
}
