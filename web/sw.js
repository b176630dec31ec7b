// Keeps one build of the site, whole, so that the page works without a network. The build puts BUILD
// before this text: its version, and each file's hash. All files of a visit come from the same build:
// a newer one waits until no page of the older is open, or until the only one is loaded again.

const { version, files } = self.BUILD; // files: {path: integrity}
const scope = new URL("./", location.href);
const FAMILY = `neat_onnx ${scope.pathname} `; // of the names of our caches: an origin may hold other sites
const NAME = FAMILY + version;
const AT_ONCE = 6; // downloads
// A page that loads itself again once the newer build has taken over. (A Refresh header would stay at an
// address with a #, and a page that reloads at once, over and over, is stopped by the browser.)
const AGAIN = `<script>
  const again = () => location.reload();
  navigator.serviceWorker.oncontrollerchange = again;
  setInterval(again, 500);
</script>`;

/** The address of a file, with its hash: the same bytes in every build that has it. */
function addressOf(path) {
  const url = new URL(path, scope);
  url.search = files[path];
  return url.href;
}

/** Which of our files an address means; null if none. */
function pathOf(address) {
  const { origin, pathname } = new URL(address);
  if (origin !== scope.origin || !pathname.startsWith(scope.pathname)) return null;
  const path = decodeURIComponent(pathname.slice(scope.pathname.length)).replace(/(^|\/)$/, "$1index.html");
  return path in files ? path : null;
}

/** A file from the network, with the hash that this build knows, or none. */
async function fetched(path) {
  const [address, integrity] = [addressOf(path), files[path]];
  const kept = await fetch(address, { integrity, cache: "force-cache" }).catch(() => null);
  const response = kept?.ok ? kept : await fetch(address, { integrity, cache: "reload" });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  // A browser refuses a page that came by a redirection, as some hosts answer for index.html.
  return response.redirected ? new Response(response.body, { headers: response.headers }) : response;
}

async function others() {
  return (await caches.keys()).filter((name) => name.startsWith(FAMILY) && name !== NAME);
}

async function keepAll() {
  const cache = await caches.open(NAME);
  const todo = Object.keys(files);
  const keep = async (path) => {
    const address = addressOf(path);
    if (await cache.match(address)) return;
    await cache.put(address, await fetched(path));
  };
  const work = async () => {
    while (todo.length) await keep(todo.pop());
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** A file of this build; from the network only if the browser has dropped it, and if it is the same. */
async function given(path) {
  const cache = await caches.open(NAME);
  return await cache.match(addressOf(path)) ?? fetched(path);
}

/** A page: of this build, unless a newer one is there and nobody else looks at this one. */
async function opened(request, path) {
  const newer = self.registration.waiting;
  if (newer && (await self.clients.matchAll({ type: "window" })).length < 2) {
    newer.postMessage({ takeOver: true });
    return new Response(AGAIN, { headers: { "Content-Type": "text/html" } });
  }
  try {
    return await given(path);
  } catch {
    await self.registration.unregister(); // this build is neither kept nor on the server any more
    return fetch(request);
  }
}

self.addEventListener("install", (event) => event.waitUntil(keepAll()));
self.addEventListener("activate", (event) => event.waitUntil(
  others().then((names) => Promise.all(names.map((name) => caches.delete(name)))),
));
self.addEventListener("message", ({ data }) => {
  if (data.takeOver) self.skipWaiting();
  if (data.version === version) self.clients.claim(); // a page of this build, loaded before this was there
});
self.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const path = method === "GET" ? pathOf(url) : null;
  if (path === null) return;
  event.respondWith(mode === "navigate" ? opened(event.request, path) : given(path));
});
