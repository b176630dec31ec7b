// How far the loading, or the file under way, is; and a way to end it.
import { $, button, bytes, h } from "./dom.js";

const SAY = {
  loading: "Loading Python",
  starting: "Starting Python",
  fetching: "Fetching",
  reading: "Reading",
  importing: "Importing",
  exporting: "Exporting",
  comparing: "Running both and comparing",
  writing: "Writing",
};

export function progress({ cancel }) {
  const bar = h("progress", { max: 1, value: 0, "data-testid": "progress", ariaLabel: "Progress" });
  const [stage, amount] = [h("span"), h("span", { className: "amount" })];
  const stop = button("Cancel", cancel, { "data-testid": "cancel", "aria-keyshortcuts": "Escape" });
  $("progress").append(h("div", {}, h("p", {}, stage, amount), bar), stop);

  return ({ phase, loading, job }) => {
    $("progress").hidden = !(phase === "loading" || job);
    stop.hidden = !job;
    const now = phase === "loading" ? loading : job;
    if (!now) return;
    const waiting = phase === "loading" && job ? `. ${job.name} comes next` : "";
    const what = phase === "loading" ? waiting : ` ${job.name}`;
    stage.textContent = `${SAY[now.stage] ?? now.stage}${what}`;
    amount.textContent = now.total ? `${bytes(now.loaded)} of ${bytes(now.total)}` : "";
    bar.value = now.fraction ?? 0;
  };
}
