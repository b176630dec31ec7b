// Python as it is once everything is imported, kept by the browser: a later visit goes on from there.
//
// A snapshot is Python's memory, taken before anybody has asked for anything. The code of shared
// libraries is not in it: they are loaded anew, each to the place that it had, and the memory is
// laid over them; Pyodide does the rest. Where anything comes to lie elsewhere there is no way back,
// and Python starts as on the first visit.

const FORMAT = 1; // of what is kept; to be raised with every change of it
const LEAST = 4; // GB that the machine has, where the browser tells: the rest go without
const UNIT = 16; // bytes; memory is given out, and a snapshot read, in multiples of it
const MORE = 1 << 20; // bytes to ask for at once until there is enough memory

const here = new URL("./", import.meta.url);
const CACHE = `neat_onnx snapshot ${here.pathname}`;
const isPossible = () => globalThis.caches && !(navigator.deviceMemory < LEAST);

/** The address that a build has in the cache: by its lock, which names all files with their hashes. */
async function addressOf(lock) {
  const text = new TextEncoder().encode(JSON.stringify([FORMAT, lock]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return new URL(`snapshot/${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`, here).href;
}

/** The snapshot that was kept of a build, to be read; one that is not `ok` has failed before; null if there is none. */
export async function findSnapshot(lock) {
  if (!isPossible()) return null;
  return await (await caches.open(CACHE)).match(await addressOf(lock)) ?? null;
}

/** Read a snapshot: {libraries, addresses, memory}. */
export async function readSnapshot(kept) {
  const data = await kept.arrayBuffer();
  const [start, length] = new Uint32Array(data, 0, 2);
  const places = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, length)));
  return { ...places, memory: new Uint8Array(data, start) };
}

/** Keep a snapshot of a build, and none of any other. */
export async function keepSnapshot(lock, python) {
  if (!isPossible()) return;
  const memory = python.makeMemorySnapshot();
  const module = python._module;
  const places = new TextEncoder().encode(JSON.stringify({
    libraries: librariesOf(module), addresses: addressesOf(module),
  }));
  const start = Math.ceil((8 + places.length) / UNIT) * UNIT;
  const head = new Uint8Array(start);
  head.set(places, 8);
  new Uint32Array(head.buffer).set([start, places.length]);
  const address = await addressOf(lock);
  const cache = await caches.open(CACHE);
  await cache.put(address, new Response(new Blob([head, memory])));
  for (const other of await cache.keys()) if (other.url !== address) await cache.delete(other);
}

/** Have a build try no snapshot again: the next would fail as this one did. */
export async function giveUp(lock) {
  await caches.delete(CACHE);
  await (await caches.open(CACHE)).put(await addressOf(lock), new Response(null, { status: 410 }));
}

/** The address of each symbol that shared libraries know. */
const addressesOf = ({ GOT }) => Object.fromEntries(Object.entries(GOT).map(([symbol, { value }]) => [symbol, value]));

/** Where a shared library's memory begins, its size in bytes, and where its functions begin in their table. */
function placeOf({ HEAPU32 }, handle) {
  const [memory, size, table] = HEAPU32.subarray((handle + 12) >>> 2); // of musl's struct dso
  return { memory, size, table };
}

/** The shared libraries that are loaded, in the order of their functions. */
function librariesOf(module) {
  return Object.entries(module.LDSO.loadedLibsByHandle)
    .map(([handle, { name, global }]) => ({ handle: Number(handle), name, global }))
    .filter(({ handle }) => handle) // 0 is Python itself
    .map((library) => ({ ...library, ...placeOf(module, library.handle) }))
    .sort((one, other) => one.table - other.table);
}

/** Make a module, before Python starts in it, fit for a snapshot: with the same libraries, and room. */
export function place(module, { libraries, addresses, memory }) {
  for (const library of libraries) load(module, library);
  const now = addressesOf(module);
  for (const [symbol, address] of Object.entries(addresses)) {
    if (now[symbol] !== address) throw new Error(`${symbol} is at ${now[symbol]}, and was at ${address}`);
  }
  while (module.HEAP8.length < memory.length) {
    if (!module._malloc(MORE)) throw new Error("there is not enough memory");
  }
}

/** Load a shared library where it was; all that is allocated on the way, the snapshot replaces. */
function load(module, { handle, name, global, memory, size, table }) {
  const { wasmTable, freeTableIndexes } = module;
  const first = wasmTable.length; // functions that came and went have left holes, which are filled again
  if (first < table) wasmTable.grow(table - first);
  for (let hole = table - 1; hole >= first; hole--) freeTableIndexes.push(hole);
  const next = module._malloc(size + UNIT);
  module._free(next);
  if (next < memory) module._malloc(memory - next - UNIT / 2); // half a unit is the allocator's own
  module.loadDynamicLibrary(name, { global, nodelete: true, loadAsync: false }, {}, handle);
  const now = placeOf(module, handle);
  if (now.memory !== memory || now.table !== table) throw new Error(`${name} is not where it was`);
}
