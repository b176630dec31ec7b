// Fetches and unpacks packages for a worker, in the page: the worker is busy with Python, and each
// would wait for the other.
import { fetchCached } from "./cached-fetch.js";

/** Answers the orders of one worker. */
export class Delivery {
  #report; // hears {fraction, loaded, total}, in bytes of what the worker needs to be ready
  #loaded = 0;
  #total = 0;

  constructor(report) {
    this.#report = report;
  }

  /** Send the files of an order to its port, as [{path, data}]; they count if there is a `total`. */
  async answer({ files, total, port }) {
    if (total) this.#total = total;
    try {
      const packages = await unpacked(files, total ? (size) => this.count(size) : () => {});
      port.postMessage({ packages }, packages.map(({ data }) => data));
    } catch (error) {
      port.postMessage({ error: error.message });
    }
  }

  /** So many bytes more have arrived. */
  count(size) {
    this.#loaded += size;
    const fraction = this.#total && Math.min(1, this.#loaded / this.#total); // bytes come before it is known
    this.#report({ fraction, loaded: this.#loaded, total: this.#total });
  }

  /** Report nothing any more. */
  stop() {
    this.#report = () => {};
  }
}

/** Fetch gzipped files of several parts; `arrived` is called with the size of each file. */
async function unpacked(files, arrived) {
  const found = await Promise.all(files.map(async (file) => {
    const response = await fetchCached(file);
    const body = response.body.pipeThrough(new DecompressionStream("gzip"));
    const data = await new Response(body).arrayBuffer();
    arrived(file.size);
    let at = 0;
    return file.parts.map(({ path, size }) => ({ path, data: data.slice(at, (at += size)) }));
  }));
  return found.flat();
}
