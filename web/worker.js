// Loads Pyodide and our packages inside the worker, saying how far it is; then serve.js takes over.

const here = new URL("./", import.meta.url);
const post = (message, transfer = []) => self.postMessage(message, transfer);
const ENGINE = ["pyodide.asm.wasm", "python_stdlib.zip"];
const OTHERS = ["numpy", "pydantic"]; // what our own modules are built on: half of the imports
const OFTEN = 60; // ms between two reports of progress

/** Refuse early where WebAssembly is switched off: there loadPyodide would never settle. */
function needWebAssembly() {
  new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
}

/** Say how much has arrived of what is needed to be ready. */
const progress = {
  loaded: 0,
  total: 0, // until it is known, and again when all is there
  told: 0, // when
  count(size) {
    this.loaded += size;
    if (!this.total || performance.now() - this.told < OFTEN) return;
    this.told = performance.now();
    const fraction = Math.min(1, this.loaded / this.total);
    post({ progress: { stage: "loading", fraction, loaded: this.loaded, total: this.total } });
  },
};

/** Whether the browser had a file, and only asked if it is still the same. */
function wasCached(url) {
  const entry = performance.getEntriesByName(url).at(-1);
  return entry !== undefined && entry.transferSize < entry.encodedBodySize;
}

/** Fetch the engine's large files now: Pyodide asks for them only once it has its code. */
function fetchEngine() {
  const plain = self.fetch;
  const early = new Map(ENGINE.map((name) => {
    const url = new URL(`pyodide/${name}`, here).href;
    const response = plain.call(self, url);
    response.catch(() => {}); // Pyodide will see it, and say so
    return [url, response];
  }));
  self.fetch = (resource, options) => {
    const found = early.get(String(resource));
    early.delete(String(resource));
    return found ?? plain.call(self, resource, options);
  };
  return [...early.values()];
}

/** Read a copy of a response for its length alone; Pyodide reads, and judges, the original. */
async function watch(response) {
  const reader = response.clone().body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      progress.count(part.value.byteLength);
    }
  } catch {
    // The original fails in the same way, and its reader says so.
  }
}

/** Fetch files of our lock; the browser refuses one that has not the hash given there. */
function download(files) {
  return Promise.all(files.map(async ({ file, size, integrity, path }) => {
    const response = await fetch(new URL(file, here), { integrity })
      .catch((error) => { throw new Error(`could not load ${file}: ${error.message}`); });
    const body = response.body.pipeThrough(new DecompressionStream("gzip"));
    const data = new Uint8Array(await new Response(body).arrayBuffer());
    progress.count(size);
    return { path, data };
  }));
}

/** Make downloaded packages importable: tables of modules by finder.py, the rest as files. */
function install(python, site, packages) {
  const isTable = ({ path }) => path.endsWith(".modules");
  for (const { path, data } of packages.filter((each) => !isTable(each))) {
    const target = `${site}/${path}`;
    python.FS.mkdirTree(target.slice(0, target.lastIndexOf("/")));
    python.FS.writeFile(target, data, { canOwn: true });
  }
  const finder = python.pyimport("finder");
  for (const { data } of packages.filter(isTable)) finder.add(data);
  finder.destroy();
}

async function start() {
  const begin = performance.now();
  needWebAssembly();
  const engine = fetchEngine();
  const lockURL = new URL("pyodide/pyodide-lock.json", here).href;
  const module = (name) => import(new URL(name, here).href);
  const [lock, { loadPyodide }, { serve }] = await Promise.all([
    fetch(lockURL).then((response) => response.json()),
    module("pyodide/pyodide.mjs"),
    module("serve.js"),
    module("pyodide/pyodide.asm.mjs"), // which loadPyodide would import next
  ]);
  const first = lock.files.filter((file) => file.first);
  progress.total = first.reduce((sum, { size }) => sum + size, 0);
  if (!wasCached(lockURL)) { // else the engine comes at once, and watching it would take longer
    progress.total += lock.engine;
    for (const response of engine) response.then(watch, () => {});
  }
  let site;
  const [python, packages] = await Promise.all([
    loadPyodide({
      indexURL: new URL("pyodide/", here).href,
      lockFileContents: lock,
      env: { HOME: "/home/pyodide", PYDANTIC_DISABLE_PLUGINS: "__all__" }, // looking for them is slow
      fsInit: async (_, { sitePackages }) => { site = sitePackages; },
    }),
    download(first),
  ]);
  progress.total = 0;
  post({ progress: { stage: "starting", fraction: 1 } });
  const loaded = performance.now();
  install(python, site, packages);
  const rest = lock.files.filter((file) => !file.first);
  let coming = download(rest); // while Python imports
  coming.catch(() => {}); // who needs it tries again, and hears of it
  for (const name of OTHERS) python.pyimport(name).destroy();
  const later = async () => {
    const packages = await coming.catch(() => (coming = download(rest)));
    install(python, site, packages);
  };
  const end = performance.now();
  post({ ready: { loadPyodide: loaded - begin, imports: end - loaded, total: end - begin } });
  serve({ python, post, later });
}

try {
  await start();
} catch (error) {
  post({ fatal: { message: String(error?.message ?? error).slice(0, 400) } });
}
