// Files that a person opened lately, as links, in this browser's storage; only once asked to.
const KEY = "neat_onnx recent";
const MOST = 8;

function stored() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY));
    return Array.isArray(found) ? found : null;
  } catch {
    return null; // there is no storage here, or somebody else's text
  }
}

function store(entries) {
  try {
    if (entries) localStorage.setItem(KEY, JSON.stringify(entries));
    else localStorage.removeItem(KEY);
  } catch {
    return false; // the browser refuses: nothing is kept
  }
  return true;
}

/** {on, entries: [{name, link}]}: whether files are kept, and which. */
export function recentFiles() {
  const found = stored();
  return { on: found !== null, entries: found ?? [] };
}

/** Begin or end keeping files; ending forgets them. */
export function keepRecent(on) {
  store(on ? stored() ?? [] : null);
  return recentFiles();
}

/** Note a file, if files are kept. */
export function noteRecent(name, link) {
  const found = stored();
  if (found) store([{ name, link }, ...found.filter((each) => each.link !== link)].slice(0, MOST));
  return recentFiles();
}

/** Forget the files, and go on keeping them if they were kept. */
export function clearRecent() {
  if (stored()) store([]);
  return recentFiles();
}
