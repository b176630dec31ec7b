// The bar that stays in sight: the verdict in a word, the files, and what is under way.
import { $, h } from "./dom.js";
import { outcomeOf, whenReported } from "./verdict.js";

export function dock() {
  const result = whenReported((report, { result: found }) => {
    $("dock-result").hidden = !found;
    if (!found) return;
    const { name, word } = outcomeOf(report);
    $("dock-verdict").className = `dock-verdict ${name}`;
    $("dock-verdict").replaceChildren(
      h("span", { className: "badge" }, word),
      h("span", { className: "dock-file", title: found.name }, found.name),
    );
  });
  return (state) => {
    result(state);
    const busy = state.phase === "loading" || Boolean(state.job);
    $("dock").classList.toggle("stays", Boolean(state.result || state.job));
    $("dock").hidden = !state.result && !busy;
  };
}
