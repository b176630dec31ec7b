// Fetches and unpacks the packages for a worker, in the page: the worker is busy with Python, and
// each would wait for the other.
import { fetchKept, fetchLock } from "./kept.js";

const OFTEN = 60; // ms between two reports of progress

/** The packages of one worker in two parts: those it needs "first", and the "later" ones. */
export class Delivery {
  #report; // hears {fraction, loaded, total}, in bytes of what is needed first
  #loaded = 0;
  #total = 0; // until it is known
  #told = 0;
  #lock = fetchLock();
  #begun;

  constructor(report) {
    this.#report = report;
    this.#begun = new Map([["first", this.#part("first")]]);
  }

  /** Answer the orders that come by this port, each the name of a part. */
  answer(port) {
    port.onmessage = async ({ data: part }) => {
      const order = this.#begun.get(part) ?? this.#part(part);
      this.#begun.delete(part); // it is given away, or it failed and may be tried again
      try {
        const packages = await order;
        port.postMessage({ part, packages }, packages.map(({ data }) => data));
      } catch (error) {
        port.postMessage({ part, error: error.message });
      }
    };
  }

  /** So many bytes more have arrived of what is needed first. */
  count(size) {
    this.#loaded += size;
    if (!this.#total || performance.now() - this.#told < OFTEN) return;
    this.#told = performance.now();
    const fraction = Math.min(1, this.#loaded / this.#total);
    this.#report({ fraction, loaded: this.#loaded, total: this.#total });
  }

  /** Report nothing any more. */
  stop() {
    this.#report = () => {};
  }

  /** [{path, data}] of all files of a part. */
  #part(part) {
    const packages = this.#lock.then(({ lock, fresh }) => {
      const files = lock.files.filter(({ first }) => first === (part === "first"));
      if (part !== "first") return unpacked(files, () => {});
      const counted = fresh ? [...files, ...lock.engine] : files; // else the engine comes at once
      this.#total = counted.reduce((total, { size }) => total + size, 0);
      return unpacked(files, (size) => this.count(size));
    });
    packages.catch(() => {}); // whoever orders it hears of it
    return packages;
  }
}

/** Fetch gzipped files; each is told to `arrived` by its size. */
function unpacked(files, arrived) {
  return Promise.all(files.map(async ({ path, size, ...file }) => {
    const response = await fetchKept(file, { integrity: file.integrity });
    const body = response.body.pipeThrough(new DecompressionStream("gzip"));
    const data = await new Response(body).arrayBuffer();
    arrived(size);
    return { path, data };
  }));
}
