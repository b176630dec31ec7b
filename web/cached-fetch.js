// Files that never change under their address, since their hash is part of it: what the browser has
// kept of one is right, and is not asked about. Only so does it also keep compiled WebAssembly.

const here = new URL("./", import.meta.url);

/** Fetch a file of the lock; if it is `checked`, one with another hash is refused. */
export async function fetchCached({ file, integrity }, { checked = true } = {}) {
  const options = checked ? { integrity } : {};
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
