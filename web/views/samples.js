// The samples, one click away.
import { stemOf } from "../files.js";
import { factsOfSample, loadSample, SAMPLES } from "../samples.js";
import { $, h, whenChanged } from "./dom.js";

export function samples({ take }) {
  const open = (name, sample) => take(name, () => loadSample(sample), { sample, facts: factsOfSample(sample) });
  const buttons = SAMPLES.map(([title, name]) => h("button", {
    type: "button",
    className: "sample",
    "data-testid": `sample-${stemOf(name)}`,
    onclick: () => open(name, stemOf(name)),
  }, title));
  $("samples").append(...buttons);
  return whenChanged((state) => state.job?.name ?? "", (under) => {
    SAMPLES.forEach(([, name], place) => buttons[place].setAttribute("aria-busy", String(name === under)));
  });
}
