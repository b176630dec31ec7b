// The check of the result by a second runtime, onnxruntime-web.
import { $, h, plain, whenChanged } from "./dom.js";
import { outcomeOf } from "./verdict.js";

export function runtimeCheck() {
  return whenChanged((state) => state.check, (found, { result }) => {
    const first = !result?.report; // there is no other verdict: this one stands above
    $("runtime-check").hidden = !found || (first && Boolean(found.report));
    const { report, failed } = found ?? {};
    if ($("runtime-check").hidden) $("runtime-check").replaceChildren();
    else if (report) $("runtime-check").replaceChildren(...said(report));
    else if (failed) {
      $("runtime-check").replaceChildren(`A second runtime, onnxruntime-web, could not be asked: ${failed}. `
        + (first ? "So the network is compared with nothing." : "The verdict above does not depend on it."));
    } else $("runtime-check").replaceChildren("A second runtime, onnxruntime-web, is being asked…");
  });
}

function said(report) {
  const { name, word } = outcomeOf(report);
  const most = report.max_abs_error;
  const far = typeof most !== "number" ? "its outputs are not all finite, or of another shape"
    : most === 0 ? "the very same numbers" : `never more than ${plain(most)} apart`;
  return [
    h("span", { className: `badge-line ${name}` },
      h("span", { className: "badge", "data-testid": "runtime-verdict" }, word)),
    ` ${far}, on the same samples, says `,
    h("span", { className: "whole", "data-testid": "runtime-name" }, report.runtime), ".",
  ];
}
