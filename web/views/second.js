// What a second runtime, onnxruntime-web, says of the result.
import { $, h, plain, whenChanged } from "./dom.js";
import { outcomeOf } from "./verdict.js";

export function second() {
  return whenChanged((state) => state.second, (found) => {
    $("second").hidden = !found;
    if (!found) return;
    const { report, failed } = found;
    if (report) $("second").replaceChildren(...said(report));
    else if (failed) {
      $("second").replaceChildren(`A second runtime, onnxruntime-web, could not be asked: ${failed}. `
        + "The verdict above does not depend on it.");
    } else $("second").replaceChildren("A second runtime, onnxruntime-web, is being asked…");
  });
}

function said(report) {
  const { name, word } = outcomeOf(report);
  const most = report.max_abs_error;
  const far = typeof most !== "number" ? "its outputs are not all finite, or of another shape"
    : most === 0 ? "the very same numbers" : `never more than ${plain(most)} apart`;
  return [
    h("span", { className: `badge-line ${name}` },
      h("span", { className: "badge", "data-testid": "second-verdict" }, word)),
    ` ${far}, on the same samples, says `,
    h("span", { className: "whole", "data-testid": "second-runtime" }, report.runtime), ".",
  ];
}
