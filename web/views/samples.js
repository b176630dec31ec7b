// The samples, one click away: six with a picture of what they show, the others by library.
import { stemOf } from "../files.js";
import { factsOfSample, loadSample, SAMPLES, SHOWN } from "../samples.js";
import { $, h, whenChanged } from "./dom.js";

export function samples({ take }) {
  const open = (name) => take(name, () => loadSample(stemOf(name)), { sample: stemOf(name), facts: factsOfSample(stemOf(name)) });
  const button = (name, ...inside) => h("button", {
    type: "button", className: "sample", "data-testid": `sample-${stemOf(name)}`, "data-name": name, onclick: () => open(name),
  }, ...inside);
  $("samples").append(...SHOWN.map(([title, name]) => h("li", {}, button(name,
    h("img", { src: `samples/${stemOf(name)}.svg`, alt: "", width: 180, height: 100, loading: "lazy" }), h("span", {}, title)))));
  $("more-samples").append(...SAMPLES.map(([title, name]) => h("li", {}, button(name, title))));
  $("try").addEventListener("click", () => open("xor.json"));
  return whenChanged((state) => state.job?.name ?? "", (under) => {
    document.querySelectorAll(".sample").forEach((each) => { each.ariaBusy = String(each.dataset.name === under); });
  });
}
