// Starts the worker, the first one as soon as this file is there: it has most to do, and the page's
// other scripts can still come.
// A worker made from a blob: URL inherits this page's Content-Security-Policy; one made from an
// ordinary URL would not, so the blob does nothing but import the real module.

/** The address of the site's service worker. */
const serviceWorker = new URL("sw.js", import.meta.url).href;

const policy = globalThis.trustedTypes?.createPolicy("neat", {
  createScriptURL(url) {
    if (!url.startsWith(`blob:${location.origin}/`) && url !== serviceWorker) throw new TypeError(`not ours: ${url}`);
    return url;
  },
}) ?? { createScriptURL: (url) => url };

/** Have the browser keep the site: from the next visit on it needs no network. Resolves to whether all of it is kept. */
export async function keepOffline() {
  const { serviceWorker: workers, connection } = navigator;
  if (!workers || connection?.saveData) return false; // not over plain http, nor on a dear line
  try {
    await workers.register(policy.createScriptURL(serviceWorker), { updateViaCache: "none" });
    const { active } = await workers.ready;
    active.postMessage({ version: document.documentElement.dataset.version });
    return true;
  } catch {
    return false; // the browser refuses, or the site is just being replaced: the page does without
  }
}

/** A worker that runs one of our modules, under this page's policy; the module may look at its name. */
export function workerOf(file, name = "") {
  const code = new URL(file, import.meta.url).href;
  const source = `
    const early = [];
    self.onmessage = (event) => early.push(event);
    import(${JSON.stringify(code)}).then(
      () => early.forEach((event) => self.onmessage(event)),
      (error) => self.postMessage({ fatal: { message: String(error) } }),
    );`;
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  return new Worker(policy.createScriptURL(url), { type: "module", name });
}

/** Whether the address asks for the form of the page that others embed. */
export const isEmbedded = () => new URLSearchParams(location.hash.slice(1)).has("embed");

/** A worker is named after what it is to do without: "embedded" keeps no snapshot, "anew" uses none either. */
function start(name = isEmbedded() ? "embedded" : "") {
  const worker = workerOf("worker.js", name);
  const early = []; // what it says before anybody listens
  worker.onmessage = (event) => early.push(event);
  return { worker, early };
}

let first = start();

/** A worker that nobody has yet, and what it has said so far: {worker, early}; one that starts `anew` uses no snapshot. */
export function spawn({ anew = false } = {}) {
  const found = anew ? start("anew") : first ?? start();
  first = null;
  return found;
}
