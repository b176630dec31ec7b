// The answer, in place of the introduction: equal or not, and by how much.
import { $, count, counted, h, plain, short, whenChanged } from "./dom.js";

const OUTCOMES = {
  equal: { name: "passed", word: "Equal", title: "Equal." },
  "equal within float32": { name: "close", word: "Equal within float32", title: "As equal as float32 allows." },
  different: { name: "failed", word: "Different", title: "Different." },
};

const OPEN = { name: "open", word: "Not compared", title: "Read, not compared." };

/** One of four: {name: passed | close | failed | open, word, title}; the last of no report. */
export function outcomeOf(report) {
  if (!report) return OPEN;
  return OUTCOMES[report.verdict] ?? OUTCOMES[report.passed ? "equal" : "different"];
}

/** The report on the result: of onnx's evaluator, or where that does not run the model, of the second runtime. */
export const reportOf = ({ result, check }) => result?.report ?? check?.report ?? null;

/** Draws when there is another result, or a report on one that had none. */
export function whenReported(draw) {
  let seen = {};
  return (state) => {
    const { result } = state;
    const report = reportOf(state);
    if (Object.is(result, seen.result) && Object.is(report, seen.report)) return;
    seen = { result, report };
    draw(report, state);
  };
}

export function verdict({ again }) {
  return whenReported((report, { result, made }) => {
    $("intro").hidden = result !== null;
    $("verdict").hidden = result === null;
    $("result").hidden = result === null;
    const inFloat64 = () => again({ ...made.settings, dtype: "float64" });
    if (result) $("verdict").replaceChildren(...answer({ ...result, report }, inFloat64));
  });
}

function answer({ name, kind, report, unchecked, warnings }, inFloat64) {
  const outcome = outcomeOf(report);
  return [
    h("p", { className: `badge-line ${outcome.name}` },
      report && h("span", { className: "badge", "data-testid": "verdict" }, report.passed ? "passed" : "failed"),
      h("span", { className: "badge-file" }, name)),
    h("h1", { className: outcome.name }, outcome.title),
    h("p", { className: "lead", "data-testid": "verdict-words" }, ...(report ? inWords(report, kind) : [`${unchecked}.`])),
    outcome.name === "close" ? h("p", { className: "lead" },
      `Rounding this network to float32 gives a normalised MSE of ${short(report.rounding)} by itself; `
      + `the model's is ${short(report.normalised_mse)}. `,
      kind === "network" && h("button", {
        type: "button", className: "button", onclick: inFloat64, "data-testid": "in-float64",
      }, "Export it in float64")) : null,
    outcome.name === "failed" && report.first_error
      ? h("p", { className: "lead" }, "It begins at ", h("strong", { className: "wraps" }, report.first_error), ".") : null,
    warnings.length ? h("ul", { className: "warnings", "aria-label": "Warnings" },
      ...warnings.map((text) => h("li", {}, text))) : null,
  ].filter(Boolean);
}

/** "On 256 random inputs your network and its ONNX model never differed by more than …". */
function inWords({ samples, steps, long_sequences: long, long_steps: far, ...report }, kind) {
  const { max_abs_error: most, not_finite: lost, runtime } = report;
  const inputs = steps > 1
    ? `On ${count(samples)} random sequences of ${counted(steps, "step")}${long ? ` and ${count(long)} of ${count(far)}` : ""}`
    : `On ${count(samples)} random inputs`;
  const both = kind === "model" ? "your ONNX model and its network" : "your network and its ONNX model";
  if (typeof most !== "number") {
    return [`${inputs} ${both} did not both give numbers: ${counted(lost, "output")} were infinite or undefined.`];
  }
  const said = most === 0 ? " gave the very same numbers" : " never differed by more than ";
  const undefinedOnes = lost ? ` ${count(lost)} of ${counted(report.values, "output value")} are infinite or undefined, the same in both.` : "";
  const skipped = report.unordered ? ` ${count(report.unordered)} of them are left out: a value inside is NaN, beside which runtimes choose differently.` : "";
  return [`${inputs} ${both}${said}`, most === 0 ? "" : h("strong", {}, plain(most)), `.${undefinedOnes}${skipped} The model was run by ${runtime}.`];
}
