// The page's end of the protocol with the worker, and the worker's life: start, watch, restart.
import { Delivery } from "./delivery.js";
import { spawn } from "./spawn.js";

const SILENCE = 45_000; // ms without a word from a worker that is starting: it will not come

export class Cancelled extends Error {}

/** Why a call was rejected, and what to do about it, without a full stop. */
export const whyFailed = ({ message, hint, obstacles = [] }) => [
  obstacles.length ? `${message}: ${obstacles.join("; ")}` : message, hint,
].filter(Boolean).join(". ");

export class Engine {
  #listen;
  #worker = null;
  #delivery = null; // of the packages that it orders
  #waiting = new Map(); // id → {resolve, reject, onProgress, message: what was asked before it was ready}
  #ready = false; // until then, another worker may have to answer
  #next = 1;
  #watchdog = 0;

  /** `listen({phase, …})` hears of phases loading, ready, warm and failed. */
  constructor(listen) {
    this.#listen = listen;
  }

  /** Start a worker; one that is there is ended, and its unanswered calls are cancelled. */
  start() {
    this.#end(new Cancelled("cancelled"));
    this.#begin();
  }

  #begin(how) {
    this.#ready = false;
    this.#listen({ phase: "loading", stage: "loading", fraction: 0 });
    const { worker, early } = spawn(how);
    this.#worker = worker;
    this.#delivery = new Delivery((far) => this.#loading({ stage: "loading", ...far }));
    worker.onmessage = ({ data }) => this.#receive(data);
    worker.onerror = (event) => this.#fail(event.message || "the worker could not start");
    this.#watch();
    early.forEach(worker.onmessage);
  }

  /** Call a method of neat_onnx/page/bridge.py. Resolves to {result, warnings, blobs}; rejects with the error. */
  call(method, params = {}, data = undefined, onProgress = () => {}) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const message = { id, method, params, data };
      this.#waiting.set(id, { resolve, reject, onProgress, message: this.#ready ? null : message });
      this.#worker.postMessage(message, data && this.#ready ? [data] : []);
    });
  }

  #receive({ id, result, warnings, blobs, error, progress, order, arrived, ready, warm, fatal, stopped, anew }) {
    if (order) return this.#delivery?.answer(order);
    if (arrived !== undefined) return this.#delivery?.count(arrived);
    if (fatal) return this.#fail(fatal.message);
    if (anew) return this.#anew();
    if (ready) {
      clearTimeout(this.#watchdog);
      this.#ready = true;
      return this.#listen({ phase: "ready", times: ready });
    }
    if (warm) return this.#listen({ phase: "warm" });
    if (id === undefined) {
      this.#delivery?.stop(); // the worker is past waiting for packages
      return this.#loading(progress);
    }
    const call = this.#waiting.get(id);
    if (!call) return;
    if (progress) return call.onProgress(progress);
    this.#waiting.delete(id);
    if (error) call.reject(error);
    else call.resolve({ result, warnings, blobs });
    if (stopped) this.start();
  }

  /** Another worker in the place of one that could not go on from a snapshot: it answers the calls. */
  #anew() {
    this.#worker.terminate();
    this.#delivery.stop();
    this.#begin({ anew: true });
    for (const { message } of this.#waiting.values()) this.#worker.postMessage(message);
  }

  #loading(progress) {
    this.#watch();
    this.#listen({ phase: "loading", ...progress });
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
    this.#delivery?.stop();
    this.#delivery = null;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }
}
