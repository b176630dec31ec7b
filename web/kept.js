// Files that never change under their address, since their hash is part of it: what the browser has
// kept of one is right, and is not asked about. Only so does it also keep compiled WebAssembly.

const here = new URL("./", import.meta.url);
const LOCK = new URL("pyodide/pyodide-lock.json", here).href;

/** Fetch a file of the lock. Given `integrity` in `options`, one with another hash is refused. */
export async function fetchKept({ file, integrity }, options = {}) {
  const url = new URL(file, here);
  url.search = integrity;
  const kept = await fetch(url, { ...options, cache: "force-cache" }).catch(() => null);
  if (kept?.ok) return kept;
  const failed = (reason) => new Error(`could not load ${file}: ${reason}`);
  const found = await fetch(url, { ...options, cache: "reload" }) // an error may have been kept, too
    .catch((error) => { throw failed(error.message); });
  if (!found.ok) throw failed(found.status);
  return found;
}

/** The lock, which says which files there are; and if it is fresh: not the one of an earlier visit. */
export async function fetchLock() {
  const response = await fetch(LOCK);
  if (!response.ok) throw new Error(`could not load the list of packages: ${response.status}`);
  const lock = await response.json();
  const entry = performance.getEntriesByName(LOCK).at(-1);
  return { lock, fresh: !entry || entry.transferSize >= entry.encodedBodySize };
}
