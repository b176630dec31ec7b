// Fetches and unpacks packages for a worker, in the page: the worker is busy with Python, and each
// would wait for the other.
import { fetchKept } from "./kept.js";

/** Answers a worker's orders, each a list of the lock's files, by [{path, data}]. */
export class Delivery {
  #report; // hears {fraction, loaded, total}, in bytes
  #loaded = 0;
  #total;

  /** `total` bytes are to come until the worker is ready: what it counts, and what it fetches. */
  constructor({ port, total }, report) {
    this.#report = report;
    this.#total = total;
    port.onmessage = async ({ data: { number, files, counted } }) => {
      try {
        const packages = await unpacked(files, counted ? (size) => this.count(size) : () => {});
        port.postMessage({ number, packages }, packages.map(({ data }) => data));
      } catch (error) {
        port.postMessage({ number, error: error.message });
      }
    };
  }

  /** So many bytes more have arrived. */
  count(size) {
    this.#loaded += size;
    const fraction = Math.min(1, this.#loaded / this.#total);
    this.#report({ fraction, loaded: this.#loaded, total: this.#total });
  }

  /** Report nothing any more. */
  stop() {
    this.#report = () => {};
  }
}

/** Fetch gzipped files; each is told to `arrived` by its size. */
function unpacked(files, arrived) {
  return Promise.all(files.map(async (file) => {
    const response = await fetchKept(file, { integrity: file.integrity });
    const body = response.body.pipeThrough(new DecompressionStream("gzip"));
    const data = await new Response(body).arrayBuffer();
    arrived(file.size);
    return { path: file.path, data };
  }));
}
