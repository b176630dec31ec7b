// The page's end of the protocol with the worker, and the worker's life: start, watch, restart.
// A worker made from a blob: URL inherits this page's Content-Security-Policy; one made from an
// ordinary URL would not, so the blob does nothing but import the real module.

const SILENCE = 45_000; // ms without a word from a worker that is starting: it will not come

const policy = globalThis.trustedTypes?.createPolicy("neat", {
  createScriptURL(url) {
    if (!url.startsWith(`blob:${location.origin}/`)) throw new TypeError(`not ours: ${url}`);
    return url;
  },
}) ?? { createScriptURL: (url) => url };

function spawn() {
  const code = new URL("worker.js", import.meta.url).href;
  const source = `
    const early = [];
    self.onmessage = (event) => early.push(event);
    import(${JSON.stringify(code)}).then(
      () => early.forEach((event) => self.onmessage(event)),
      (error) => self.postMessage({ fatal: { message: String(error) } }),
    );`;
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(policy.createScriptURL(url), { type: "module" });
  const early = []; // what it says before anybody listens
  worker.onmessage = (event) => early.push(event);
  return { worker, early };
}

let first = spawn(); // at once: it has most to do, and the page's other modules can still come

export class Cancelled extends Error {}

export class Engine {
  #listen;
  #worker = null;
  #waiting = new Map(); // id → {resolve, reject, onProgress}
  #next = 1;
  #watchdog = 0;

  /** `listen({phase, …})` hears of phases loading, ready, warm and failed. */
  constructor(listen) {
    this.#listen = listen;
  }

  /** Start a worker; one that is there is ended, and its unanswered calls are cancelled. */
  start() {
    this.#end(new Cancelled("cancelled"));
    this.#listen({ phase: "loading", stage: "loading", fraction: 0 });
    const { worker, early } = first ?? spawn();
    first = null;
    this.#worker = worker;
    worker.onmessage = ({ data }) => this.#receive(data);
    worker.onerror = (event) => this.#fail(event.message || "the worker could not start");
    this.#watch();
    early.forEach(worker.onmessage);
  }

  /** Call a method of neat_onnx/bridge.py. Resolves to {result, blobs}; rejects with the error. */
  call(method, params = {}, data = undefined, onProgress = () => {}) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, onProgress });
      this.#worker.postMessage({ id, method, params, data }, data ? [data] : []);
    });
  }

  #receive({ id, result, blobs, error, progress, ready, warm, fatal, stopped }) {
    if (fatal) return this.#fail(fatal.message);
    if (ready) {
      clearTimeout(this.#watchdog);
      return this.#listen({ phase: "ready", times: ready });
    }
    if (warm) return this.#listen({ phase: "warm" });
    if (id === undefined) {
      this.#watch();
      return this.#listen({ phase: "loading", ...progress });
    }
    const call = this.#waiting.get(id);
    if (!call) return;
    if (progress) return call.onProgress(progress);
    this.#waiting.delete(id);
    if (error) call.reject(error);
    else call.resolve({ result, blobs });
    if (stopped) this.start();
  }

  #watch() {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.#fail("Python did not start in time"), SILENCE);
  }

  #fail(message) {
    this.#end(new Error(message));
    this.#listen({ phase: "failed", message });
  }

  #end(reason) {
    clearTimeout(this.#watchdog);
    this.#worker?.terminate();
    this.#worker = null;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }
}
