// The page's state, all of it, and what changes it. Views draw it; the engine does the work.
import { Cancelled, Engine } from "./engine.js";
import { downloads } from "./views/downloads.js";
import { drop } from "./views/drop.js";
import { error } from "./views/error.js";
import { graph } from "./views/graph.js";
import { options } from "./views/options.js";
import { progress } from "./views/progress.js";
import { report } from "./views/report.js";
import { samples } from "./views/samples.js";
import { status } from "./views/status.js";
import { summary } from "./views/summary.js";
import { verdict } from "./views/verdict.js";

const LARGE = 20e6; // bytes; a worker's memory never shrinks, so after such a file comes a new one

const state = {
  phase: "loading", // of the engine: loading | ready | failed
  loading: { stage: "loading", fraction: 0 },
  failure: null, // why the engine failed
  schema: null, // of the export options
  file: null, // the last one dropped
  job: null, // {name, stage, fraction} while a file is under way
  result: null, // {name, files, kind, summary, graph, report, warnings}
  error: null, // {name, kind, message, where, hint}
  turns: 0, // files finished, well or not
};

const actions = { take, again, restart: () => engine.start() };
const views = [status, drop, samples, progress, error, verdict, summary, graph, report, options]
  .map((view) => view(actions));

function update(changes) {
  Object.assign(state, changes);
  for (const draw of views) draw(state);
  const { phase, job, result, turns } = state;
  const outcome = job ? "working" : result ? "done" : state.error ? "error" : "none";
  Object.assign(document.body.dataset, { state: phase, job: outcome, turns });
}

const engine = new Engine(({ phase, message = null, times, ...loading }) => {
  if (phase !== "loading") performance.mark(phase, { detail: times });
  if (phase === "warm") return;
  update({ phase, failure: message, ...(phase === "loading" && { loading }) });
  if (phase === "ready" && !state.schema) loadSchema();
});

async function loadSchema() {
  try {
    update({ schema: (await engine.call("options")).result });
  } catch (reason) {
    if (!(reason instanceof Cancelled)) throw reason;
  }
}

/** A file was dropped, chosen or picked from the samples. */
function take(file) {
  performance.mark("drop");
  return run(file, {}, { result: null });
}

/** The same file once more, with the options of the form. */
function again(settings) {
  return run(state.file, settings, {});
}

async function run(file, settings, changes) {
  if (state.job) engine.start(); // the newest wins: the one under way is ended with its worker
  const job = { name: file.name, stage: "reading", fraction: 0 };
  update({ ...changes, file, job, error: null });
  let outcome;
  try {
    const data = await file.arrayBuffer();
    if (state.job !== job) return;
    const { result, blobs } = await engine.call(
      "convert", { name: file.name, options: settings }, data,
      (progress) => { Object.assign(job, progress); update({}); },
    );
    outcome = { result: { ...result, name: file.name, files: downloads(file.name, blobs) } };
  } catch (reason) {
    if (reason instanceof Cancelled || state.job !== job) return;
    const { kind = "Error", message, where = null, hint = null } = reason;
    outcome = { result: null, error: { name: file.name, kind, message, where, hint } };
  }
  state.result?.files.forEach(({ url }) => URL.revokeObjectURL(url));
  update({ ...outcome, job: null, turns: state.turns + 1 });
  performance.mark("verdict");
  if (file.size > LARGE) engine.start();
}

update({});
engine.start();
