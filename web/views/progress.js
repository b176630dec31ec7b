// How far the loading, or the file under way, is.
import { $, bytes, h } from "./dom.js";

const SAY = {
  loading: "Loading Python",
  starting: "Starting Python",
  reading: "Reading",
  importing: "Importing",
  exporting: "Exporting",
  comparing: "Running both and comparing",
  writing: "Writing the files",
};

export function progress() {
  const bar = h("progress", { max: 1, value: 0, "data-testid": "progress", ariaLabel: "Progress" });
  const [stage, amount] = [h("span"), h("span", { className: "amount" })];
  $("progress").append(h("p", {}, stage, amount), bar);

  return ({ phase, loading, job }) => {
    $("progress").hidden = !(phase === "loading" || job);
    const now = phase === "loading" ? loading : job;
    if (!now) return;
    const waiting = phase === "loading" && job ? `. ${job.name} comes next` : "";
    const what = phase === "loading" ? waiting : ` ${job.name}`;
    stage.textContent = `${SAY[now.stage] ?? now.stage}${what}`;
    amount.textContent = now.total ? `${bytes(now.loaded)} of ${bytes(now.total)}` : "";
    bar.value = now.fraction ?? 0;
  };
}
