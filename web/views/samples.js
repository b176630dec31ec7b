// The samples, one click away: six with a picture of what they show, the others by library.
import { stemOf } from "../files.js";
import { factsOfSample, loadSample, SAMPLES, SHOWN } from "../samples.js";
import { $, h, whenChanged } from "./dom.js";

/** The pictures come in one file, once nothing more urgent does. */
async function show() {
  const response = await fetch("pictures.json", { priority: "low" }).catch(() => null);
  if (!response?.ok) return; // the page does without
  const pictures = await response.json();
  for (const image of document.querySelectorAll("[data-picture]")) {
    image.src = `data:image/svg+xml,${encodeURIComponent(pictures[image.dataset.picture])}`;
  }
}

export function samples({ take }) {
  const open = (name) => take(name, () => loadSample(stemOf(name)), { sample: stemOf(name), facts: factsOfSample(stemOf(name)) });
  const button = (name, ...inside) => h("button", {
    type: "button", className: "sample", "data-testid": `sample-${stemOf(name)}`, "data-name": name, onclick: () => open(name),
  }, ...inside);
  $("samples").append(...SHOWN.map(([title, name]) => h("li", {}, button(name,
    h("img", { alt: "", width: 180, height: 100, "data-picture": name }), h("span", {}, title)))));
  show();
  $("more-samples").append(...SAMPLES.map(([title, name]) => h("li", {}, button(name, title))));
  $("try").addEventListener("click", () => open("xor.json"));
  return whenChanged((state) => state.job?.name ?? "", (under) => {
    document.querySelectorAll(".sample").forEach((each) => { each.ariaBusy = String(each.dataset.name === under); });
  });
}
