// The one verdict: a chip that says equal or not and by how much, and opens into the sentence behind it.
import { $, button, count, counted, h, plain, short, whenChanged } from "./dom.js";

const OUTCOMES = {
  equal: { name: "passed", word: "Equal" },
  "equal within float32": { name: "close", word: "Equal as far as float32 can be" },
  different: { name: "failed", word: "Different" },
};
const OPEN = { name: "open", word: "Not compared" };

/** One of four: {name: passed | close | asked | failed | open, word}; the last of no report. */
export function outcomeOf(report, settings = {}) {
  if (!report) return OPEN;
  const found = OUTCOMES[report.verdict] ?? OUTCOMES[report.passed ? "equal" : "different"];
  const asked = report.quantized && (settings.quantize ?? "none") !== "none" && found.name === "failed";
  return asked ? { name: "asked", word: "Different" } : found;
}

/** The report on the result: of onnx's evaluator, or where that does not run the model, of the second runtime. */
export const reportOf = ({ result, check }) => result?.report ?? check?.report ?? null;

/** Draws when there is another result, or a report on one that had none. */
export function whenReported(draw) {
  let seen = {};
  return (state) => {
    const { result, check } = state;
    const report = reportOf(state);
    if (Object.is(result, seen.result) && Object.is(report, seen.report) && Object.is(check, seen.check)) return;
    seen = { result, report, check };
    draw(report, state);
  };
}

/** What is said of the size of errors: relative to the outputs where they are large, "5e-8 relative". */
function amount(report, { name }) {
  const { max_abs_error: most, max_rel_error: relative } = report;
  if (typeof most !== "number") return "not finite in both";
  if (most === 0) return "the very same numbers";
  const far = name === "failed" || name === "asked";
  return `${far ? "by up to " : ""}${relative < 1e-3 || relative >= 1e6 ? relative.toExponential(0) : +relative.toPrecision(2)} relative`;
}

export function verdict({ again }) {
  return whenReported((report, { result, made, check }) => {
    $("intro").hidden = result !== null;
    $("result").hidden = $("chip").hidden = result === null;
    document.body.toggleAttribute("data-result", result !== null);
    if (!result) return;
    const outcome = outcomeOf(report, made.settings);
    const asked = outcome.name === "asked" ? "as asked: int8" : "";
    const runtimes = report ? counted(1 + Number(Boolean(result.report && check?.report?.passed)), "runtime") : "";
    $("chip").className = `menu chip ${outcome.name}`;
    $("chip-words").replaceChildren(
      report ? h("span", { className: "unseen", "data-testid": "verdict" }, report.passed ? "passed" : "failed") : "",
      h("strong", {}, outcome.word),
      h("span", { className: "chip-more" }, [report && amount(report, outcome), asked, runtimes].filter(Boolean).map((part) => ` · ${part}`).join("")),
    );
    const inFloat64 = () => again({ ...made.settings, dtype: "float64" });
    $("chip-panel").replaceChildren(...said({ ...result, report }, outcome, inFloat64), secondRuntime(check, result));
  });
}

function said({ kind, report, unchecked, warnings }, outcome, inFloat64) {
  return [
    h("p", { "data-testid": "verdict-words" }, ...(report ? inWords(report, kind) : [`${unchecked}.`])),
    outcome.name === "close" ? h("p", {},
      `Rounding this network to float32 gives a normalised MSE of ${short(report.rounding)} by itself; `
      + `the model's is ${short(report.normalised_mse)}. `,
      kind === "network" && button("Export it in float64", inFloat64, { "data-testid": "in-float64" })) : null,
    outcome.name === "asked" ? h("p", {}, "Quantized numbers hold less: this loss was asked for.") : null,
    outcome.name === "failed" && report.first_error
      ? h("p", {}, "It begins at ", h("strong", { className: "wraps" }, report.first_error), ".") : null,
    warnings.length ? h("ul", { className: "warnings", "aria-label": "Warnings" },
      ...warnings.map((text) => h("li", {}, text))) : null,
  ].filter(Boolean);
}

/** "On 256 random inputs your network and its ONNX model differed by no more than …". */
function inWords({ samples, steps, long_sequences: long, long_steps: far, ...report }, kind) {
  const { max_abs_error: most, max_rel_error: relative, not_finite: lost, runtime } = report;
  const inputs = steps > 1
    ? `On ${count(samples)} random sequences of ${counted(steps, "step")}${long ? ` and ${count(long)} of ${count(far)}` : ""}`
    : `On ${count(samples)} random inputs`;
  const both = kind === "model" ? "your ONNX model and its network" : "your network and its ONNX model";
  if (typeof most !== "number") {
    return [`${inputs} ${both} did not both give numbers: ${counted(lost, "output")} were infinite or undefined.`];
  }
  const amounts = most === 0 ? " gave the very same numbers" : " never differed by more than ";
  const besides = most === 0 ? "" : ` of an output, or of 1 where that is larger; ${plain(most)} in numbers`;
  const undefinedOnes = lost ? ` ${count(lost)} of ${counted(report.values, "output value")} are infinite or undefined, the same in both.` : "";
  const skipped = report.unordered ? ` ${count(report.unordered)} of them are left out: a value inside is NaN, beside which runtimes choose differently.` : "";
  return [`${inputs} ${both}${amounts}`, most === 0 ? "" : h("strong", {}, percent(relative)),
    `${besides}.${undefinedOnes}${skipped} The model was run by ${runtime}.`];
}

/** 5e-8 → "0.000005 %". */
const percent = (share) => `${plain(100 * share)} %`;

/** What onnxruntime-web says of the same samples. */
function secondRuntime(check, result) {
  const line = (...parts) => h("p", { className: "runtime-check", "data-testid": "runtime-check" }, ...parts);
  if (!check) return "";
  if (check.large) return line("The model is too large to be run by a second runtime while somebody waits.");
  const { report, failed } = check;
  if (failed) {
    return line(`A second runtime, onnxruntime-web, could not be asked: ${failed}. `
      + (result.report ? "The verdict does not depend on it." : "So the network is compared with nothing."));
  }
  if (!report) return line("A second runtime, onnxruntime-web, is being asked…");
  if (!result.report) return "";
  const { name, word } = outcomeOf(report);
  const most = report.max_abs_error;
  const far = typeof most !== "number" ? "its outputs are not all finite, or of another shape"
    : most === 0 ? "the very same numbers" : `never more than ${short(report.max_rel_error)} relative`;
  return line(h("strong", { className: name, "data-testid": "runtime-verdict" }, word), `: ${far}, on the same samples, says `,
    h("span", { className: "whole", "data-testid": "runtime-name" }, report.runtime), ".");
}

/** Sentences that are no errors: why something was not taken, which of several files was, that the page is kept. */
export const notice = () => whenChanged((state) => state.notice, (text) => {
  $("notice").hidden = !text;
  $("notice").textContent = text ?? "";
});

export const offline = () => whenChanged((state) => state.offline, (kept) => { $("offline").hidden = !kept; });

/** One word on the engine: loading, ready or failed. */
export const status = () => whenChanged((state) => state.phase, (phase) => { $("status").textContent = phase; });
