// The answer, in place of the introduction: equal or not, and by how much.
import { $, counted, h, short, whenChanged } from "./dom.js";

export const verdict = () => whenChanged((state) => state.result, (result) => {
  $("intro").hidden = result !== null;
  $("verdict").hidden = result === null;
  $("result").hidden = result === null;
  $("verdict").replaceChildren(...(result ? answer(result) : []));
});

function answer({ name, report, warnings }) {
  const outcome = report.passed ? "passed" : "failed";
  return [
    h("p", { className: `badge ${outcome}` },
      h("span", { "data-testid": "verdict" }, outcome), h("span", { className: "badge-file" }, name)),
    h("h1", { className: outcome }, report.passed ? "Equal." : "Not equal."),
    h("p", { className: "lead" }, "Normalised MSE ", h("strong", {}, short(report.normalised_mse)),
      report.steps > 1
        ? ` over ${counted(report.samples, "sequence")} of ${counted(report.steps, "step")}.`
        : ` over ${counted(report.samples, "sample")}.`),
    warnings.length ? h("ul", { className: "warnings", "aria-label": "Warnings" },
      ...warnings.map((text) => h("li", {}, text))) : null,
  ].filter(Boolean);
}
