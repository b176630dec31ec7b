// Loads Pyodide and our packages inside the worker, saying how far it is; then serve.js takes over.
import { fetchCached } from "./cached-fetch.js";
import { serve } from "./serve.js";
import * as snapshots from "./snapshot.js";

const here = new URL("./", import.meta.url);
const post = (message, transfer = []) => self.postMessage(message, transfer);
const OTHERS = ["numpy", "pydantic"]; // what our own modules are built on: half of the imports
const OFTEN = 60; // ms between two reports of progress

/** Fail as in any module worker. Pyodide tries it to see in which it is, and Firefox judges by the page's policy first. */
self.importScripts = () => { throw new TypeError("a module worker imports"); };

/** Refuse early where WebAssembly is switched off: there loadPyodide would never settle. */
function needWebAssembly() {
  new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
}

/** The lock: which files there are. `fresh` says that it is not the one of an earlier visit. */
async function fetchLock() {
  const url = new URL("pyodide/pyodide-lock.json", here).href;
  const response = await fetch(url);
  if (!response.ok) throw new Error(`could not load the list of packages: ${response.status}`);
  const lock = await response.json();
  const entry = performance.getEntriesByName(url).at(-1);
  return { lock, fresh: !entry || entry.transferSize >= entry.encodedBodySize };
}

const sizeOf = (files) => files.reduce((total, { size }) => total + size, 0);

/** Have the page fetch files of the lock: [{path, data}]. Until we are ready, `total` bytes come. */
function order(files, total = 0) {
  return new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data: { packages, error } }) => {
      if (error) reject(new Error(error));
      else resolve(packages);
    };
    post({ order: { files, total, port: port2 } }, [port2]);
  });
}

/** The response that Pyodide gets for a file of ours: a gzipped one is unpacked. */
function asked(response, packed) {
  return packed ? new Response(response.body.pipeThrough(new DecompressionStream("gzip"))) : response;
}

/** Fetch the engine's large files now: Pyodide asks for them only once it has its code. */
function fetchEngine(files, watch) {
  const plain = self.fetch;
  const early = new Map(files.map((file) => {
    // To check one, the browser would have to wait for all of it before it compiles it.
    const packed = file.file.endsWith(".gz");
    const response = fetchCached(file, { checked: false }).then((found) => {
      watch(found.clone());
      return asked(found, packed);
    });
    response.catch(() => {}); // Pyodide will see it, and say so
    return [new URL(packed ? file.file.slice(0, -3) : file.file, here).href, response];
  }));
  self.fetch = (resource, options) => {
    const found = early.get(String(resource));
    early.delete(String(resource));
    return found ?? plain.call(self, resource, options);
  };
}

/** Report how much of a response has come, from a copy; Pyodide reads, and judges, the original. */
async function watch(copy) {
  let [reported, arrived] = [performance.now(), 0];
  const reader = copy.body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      arrived += part.value.byteLength;
      if (performance.now() - reported < OFTEN) continue;
      post({ arrived });
      [reported, arrived] = [performance.now(), 0];
    }
    post({ arrived });
  } catch {
    // The original fails in the same way, and its reader says so.
  }
}

/** A file of the lock, at once: Python, which wants to import something, waits for it. */
function fetchNow(file, integrity) {
  const url = new URL(file, here);
  url.search = integrity;
  const request = new XMLHttpRequest();
  request.open("GET", url.href, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error(`the server answered ${request.status}`);
  return new Uint8Array(request.response);
}

const isTable = ({ path }) => path.endsWith(".modules");

/** Make downloaded packages importable: tables of modules by finder.py, the rest as files. */
function install(python, site, packages) {
  for (const { path, data } of packages.filter((each) => !isTable(each))) write(python.FS, `${site}/${path}`, data);
  finding(python, (finder) => {
    for (const { data } of packages.filter(isTable)) finder.add(new Uint8Array(data));
  });
}

function write(FS, path, data) {
  FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
  FS.writeFile(path, new Uint8Array(data), { canOwn: true });
}

/** Do something with finder.py. */
function finding(python, work) {
  const finder = python.pyimport("finder");
  work(finder);
  finder.destroy();
}

/** What both ways to start need: Pyodide and our modules on their way, and the engine's large files. */
async function prepare() {
  needWebAssembly();
  const module = (name) => import(new URL(name, here).href);
  const modules = Promise.all([
    module("pyodide/pyodide.mjs"),
    module("pyodide/pyodide.asm.mjs"), // which loadPyodide would import next
  ]);
  const { lock, fresh } = await fetchLock();
  fetchEngine(lock.engine, fresh ? watch : (copy) => copy.body.cancel()); // a kept one comes at once
  const settings = {
    indexURL: new URL("pyodide/", here).href,
    lockFileContents: lock,
    env: { HOME: "/home/pyodide", PYDANTIC_DISABLE_PLUGINS: "__all__" }, // looking for them is slow
  };
  return { lock, fresh, settings, modules };
}

/** Start Python, and import what our own modules are built on; a snapshot of it is taken if it is to be kept. */
async function begin({ lock, fresh, settings, modules }, since, isToBeKept) {
  const first = lock.files.filter((file) => file.first);
  const rest = lock.files.filter((file) => !file.first);
  const ordered = order(first, sizeOf(fresh ? [...lock.engine, ...first] : first));
  ordered.catch(() => {}); // awaited below
  const [{ loadPyodide }] = await modules;
  let site;
  const [python, packages] = await Promise.all([
    loadPyodide({
      ...settings,
      fsInit: async (_, { sitePackages }) => { site = sitePackages; },
      _makeSnapshot: isToBeKept,
    }),
    ordered,
  ]);
  post({ progress: { stage: "starting", fraction: 1 } });
  const loaded = performance.now();
  install(python, site, packages);
  finding(python, (finder) => {
    finder.fetch_with(fetchNow);
    finder.add_seldom(JSON.stringify(lock.seldom));
  });
  let coming = order(rest); // while Python imports
  coming.catch(() => {}); // who needs it tries again, and hears of it
  for (const name of OTHERS) python.pyimport(name).destroy();
  const later = async () => {
    const packages = await coming.catch(() => (coming = order(rest)));
    install(python, site, packages);
  };
  const keep = () => {
    finding(python, (finder) => finder.fetch_with(null));
    const kept = snapshots.keepSnapshot(lock, python); // takes it before it returns
    finding(python, (finder) => finder.fetch_with(fetchNow));
    return kept;
  };
  const end = performance.now();
  post({ ready: { loadPyodide: loaded - since, imports: end - loaded, total: end - since } });
  serve({ python, post, later, keep: isToBeKept ? keep : null });
}

/** Go on from where an earlier visit had imported everything. */
async function goOn(kept, { lock, settings, modules }, since) {
  const plain = lock.files.filter((file) => !isTable(file));
  const [files, snapshot] = [order(plain, sizeOf(plain)), snapshots.readSnapshot(kept)];
  for (const each of [files, snapshot]) each.catch(() => {}); // awaited by what follows
  const [{ loadPyodide }, { default: createModule }] = await modules;
  const python = await loadPyodide({
    ...settings,
    _loadSnapshot: snapshot.then(({ memory }) => memory),
    createPyodideModule: async (given) => {
      const module = await createModule(given);
      for (const { path, data } of await files) write(module.FS, `${module.API.sitePackages}/${path}`, data);
      snapshots.place(module, await snapshot);
      return module;
    },
  });
  finding(python, (finder) => finder.fetch_with(fetchNow));
  const total = performance.now() - since;
  post({ ready: { loadPyodide: total, imports: 0, total, wentOn: true } });
  serve({ python, post, later: async () => {} });
}

async function start() {
  const since = performance.now();
  const prepared = await prepare();
  const { lock } = prepared;
  const kept = self.name === "anew" ? null : await snapshots.findSnapshot(lock).catch((error) => {
    console.warn(`The browser keeps no snapshots: ${error.message}`);
    return null;
  });
  if (!kept?.ok) return begin(prepared, since, !kept && self.name === "");
  try {
    await goOn(kept, prepared, since);
  } catch (error) {
    console.warn(`Python starts anew: ${error.message}`);
    await snapshots.giveUp(lock);
    post({ anew: true });
  }
}

try {
  await start();
} catch (error) {
  post({ fatal: { message: String(error?.message ?? error).slice(0, 400) } });
}
