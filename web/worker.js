// Loads Pyodide and our wheel inside the worker, saying how far it is; then serve.js takes over.
import { serve } from "./serve.js";

const here = new URL("./", import.meta.url);
const post = (message, transfer = []) => self.postMessage(message, transfer);

// What is fetched before the page is ready; onnx and what it needs follow while nobody waits.
const FIRST = /pyodide\.asm\.wasm|python_stdlib|\/(numpy-|pydantic|typing|annotated|neat_onnx)/;
const LATER = ["onnx"];
const OFTEN = 60; // ms between two reports of progress

/** Refuse early where WebAssembly is switched off: there loadPyodide would never settle. */
function needWebAssembly() {
  new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
}

/** Count the bytes of every response, against the sizes that the build wrote. */
async function countBytes() {
  const plain = self.fetch.bind(self);
  const sizes = await (await plain(new URL("sizes.json", here))).json();
  const expected = Object.entries(sizes).filter(([name]) => FIRST.test(name));
  const total = expected.reduce((sum, [, size]) => sum + size, 0);
  let [loaded, told] = [0, 0];
  const count = (size) => {
    loaded = Math.min(total, loaded + size);
    if (performance.now() - told < OFTEN) return;
    told = performance.now();
    post({ progress: { stage: "loading", fraction: loaded / total, loaded, total } });
  };
  self.fetch = async (...request) => {
    const response = await plain(...request);
    if (FIRST.test(response.url)) watch(response.clone().body, count);
    return response;
  };
  return () => { self.fetch = plain; };
}

/** Read a copy of a response for its length alone; Pyodide reads, and judges, the original. */
async function watch(body, count) {
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      count(part.value.byteLength);
    }
  } catch {
    // The original fails in the same way, and its reader says so.
  }
}

/** Load packages of our lock. loadPackage logs a failure instead of throwing, so look. */
async function load(python, names) {
  const trouble = [];
  await python.loadPackage(names, {
    messageCallback() {},
    errorCallback: (text) => trouble.push(text),
  });
  const missing = names.filter((name) => !(name in python.loadedPackages));
  if (missing.length) throw new Error(`could not load ${missing.join(", ")}. ${trouble.join(" ")}`);
}

async function start() {
  const times = { begin: performance.now() };
  needWebAssembly();
  const [{ loadPyodide }, stopCounting] = await Promise.all([
    import(new URL("pyodide/pyodide.mjs", here).href),
    countBytes(),
  ]);
  const python = await loadPyodide({
    indexURL: new URL("pyodide/", here).href,
    packages: ["neat-onnx"],
    env: { HOME: "/home/pyodide", PYDANTIC_DISABLE_PLUGINS: "__all__" }, // looking for plugins is slow
  });
  times.loaded = performance.now();
  stopCounting();
  post({ progress: { stage: "starting", fraction: 1 } });
  await load(python, ["neat-onnx"]);
  const bridge = python.pyimport("neat_onnx.bridge");
  times.imported = performance.now();
  serve({ python, bridge, post, later: () => load(python, LATER) });
  post({
    ready: {
      loadPyodide: times.loaded - times.begin,
      imports: times.imported - times.loaded,
      total: times.imported - times.begin,
    },
  });
}

try {
  await start();
} catch (error) {
  post({ fatal: { message: String(error?.message ?? error).slice(0, 400) } });
}
