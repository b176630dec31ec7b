// Has the browser keep the site, once the page has started: from the next visit on it needs no network.
import { register } from "./spawn.js";

/** Resolves to whether the whole site is kept. */
export async function keepOffline() {
  const { serviceWorker, connection } = navigator;
  if (!serviceWorker || connection?.saveData) return false; // not over plain http, nor on a dear line
  try {
    await register();
    const { active } = await serviceWorker.ready;
    active.postMessage({ version: document.documentElement.dataset.version });
    return true;
  } catch {
    return false; // the browser refuses, or the site is just being replaced: the page does without
  }
}
