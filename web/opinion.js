// The second opinion on a result: asks the engine for an exam, another worker to sit it, and the
// engine to judge. It starts after the verdict, and whoever needs the engine comes first.
import { Cancelled } from "./engine.js";
import { workerOf } from "./spawn.js";

let worker = null; // of web/second.js, kept for the next result
let waiting = null; // {id, resolve, reject} of the exam that is being sat
let next = 1;

function sit(exam, transfer) {
  if (!worker) {
    worker = workerOf("second.js");
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
    worker.postMessage({ id, ...exam }, transfer);
  });
}

/** End the exam that is being sat. */
export function leave() {
  if (!waiting) return;
  worker.terminate();
  worker = null;
  waiting.reject(new Cancelled("cancelled"));
  waiting = null;
}

/** The report of onnxruntime-web on what the engine converted last. */
export async function secondOpinion(engine) {
  const { result: order, blobs: { model, inputs } } = await engine.call("exam");
  try {
    const { runtime, outputs } = await sit({ order, model, inputs }, [model.buffer, inputs.buffer]);
    waiting = null;
    return (await engine.call("judge", { runtime }, outputs)).result;
  } catch (error) {
    leave();
    throw error;
  }
}
