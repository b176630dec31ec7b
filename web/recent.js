// Files that a person opened lately, as links, in this browser's storage; only once asked to.
const KEY = "neat_onnx recent";
const MOST = 8;

/** {on, entries: [{name, link}]}: whether files are kept, and which. */
export function recentFiles() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY));
    if (Array.isArray(found)) return { on: true, entries: found };
  } catch {} // there is no storage here, or somebody else's text
  return { on: false, entries: [] };
}

/** Keep these files, or with null none at all; `recentFiles` from then on, as far as the browser lets. */
export function keepRecent(entries) {
  try {
    if (entries) localStorage.setItem(KEY, JSON.stringify(entries.slice(0, MOST)));
    else localStorage.removeItem(KEY);
  } catch {} // the browser refuses: nothing is kept
  return recentFiles();
}
