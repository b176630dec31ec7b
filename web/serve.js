// The worker's end of the protocol: each {id, method, params, data} is answered once, by
// {id, result, warnings, blobs} or {id, error: {kind, message, where, hint, import, obstacles}}; {id, progress} may come
// before. `stopped` beside an error says that this worker can answer no more.

/** Whether Python itself is gone: out of stack or memory, which no except clause can catch. */
const isEnd = (error) => error?.pyodide_fatal_error === true
  || error instanceof RangeError || error instanceof WebAssembly.RuntimeError;

function explain(error) {
  if (isEnd(error)) {
    const message = "Python ran out of room while working on this file";
    const hint = "It may be nested too deeply, or too large for a browser";
    return { kind: "OutOfRoom", message, where: null, hint };
  }
  const message = String(error?.message ?? error).trim().split("\n").at(-1).slice(0, 400);
  const hint = "Please report this with the file, if you can share it.";
  return { kind: "InternalError", message, where: null, hint };
}

// What a conversion imports, in pieces: a file that is dropped meanwhile waits for one, not for all.
const PIECES = [
  "neat_onnx.page.bridge", "neat_onnx.operators",
  "onnx", "onnx.reference", "onnx.reference.ops._op_list",
];
const ROUNDS = 3; // of the warming up: the browser compiles what is hot once more, and better

/**
 * Answer calls; the first waits for the packages that `later` loads. `keep` is called once everything is
 * imported, if nobody has called before.
 */
export function serve({ python, post, later, keep = null }) {
  let bridge = null; // imported by the first call, or while nobody waits
  let arriving = null;
  let asked = false; // whether Python knows anybody's file
  const arrived = () => (arriving ??= later().catch((error) => {
    arriving = null; // the next one may try again
    throw error;
  }));

  const imported = (name) => python.pyimport(name).destroy();
  const pause = () => new Promise((resolve) => setTimeout(resolve)); // a file that has come is next

  /** Run one method of neat_onnx/page/bridge.py. */
  function answer({ method, params = {}, data }, onProgress) {
    bridge ??= python.pyimport("neat_onnx.page.bridge");
    const bytes = python.toPy(new Uint8Array(data ?? new ArrayBuffer(0)));
    const reply = bridge.call(method, JSON.stringify(params), bytes, onProgress);
    const [text, blobs] = [reply.get(0), reply.get(1)];
    const files = {};
    for (const name of blobs) files[name] = takeBytes(blobs, name);
    for (const proxy of [bytes, blobs, reply]) proxy.destroy();
    return { ...JSON.parse(text), blobs: files };
  }

  function takeBytes(blobs, name) {
    const proxy = blobs.get(name);
    const view = proxy.getBuffer();
    const copy = view.data.slice();
    view.release();
    proxy.destroy();
    return copy;
  }

  async function handle({ id, ...request }) {
    asked = true;
    const onProgress = (stage, fraction) => post({ id, progress: { stage, fraction } });
    try {
      await arrived();
      const reply = answer(request, onProgress);
      post({ id, ...reply }, Object.values(reply.blobs).map((bytes) => bytes.buffer));
    } catch (error) {
      post({ id, error: explain(error), stopped: isEnd(error) });
    }
  }

  /** While nobody waits: import what the first conversion will need, and make one. */
  async function warmUp() {
    await arrived();
    for (const name of PIECES) {
      imported(name);
      await pause();
    }
    for (let round = 0; round < ROUNDS && !asked; round++) {
      answer({ method: "warm" }, () => {});
      await pause();
    }
    post({ warm: true });
    if (!keep || asked) return;
    answer({ method: "warm", params: { reading: true } }, () => {});
    bridge.destroy();
    bridge = null;
    await keep().catch((error) => console.warn(`The next visit starts as this one: ${error.message}`));
  }

  self.onmessage = ({ data }) => handle(data);
  warmUp().catch((error) => console.warn(`not everything could be loaded yet: ${error.message}`));
}
