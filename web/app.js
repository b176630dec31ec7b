// The page's state, all of it, and what changes it. Views draw it; the engine does the work.
import { Cancelled, Engine } from "./engine.js";
import { downloads, filesOf } from "./views/downloads.js";
import { drop } from "./views/drop.js";
import { error } from "./views/error.js";
import { graph } from "./views/graph.js";
import { options } from "./views/options.js";
import { progress } from "./views/progress.js";
import { report } from "./views/report.js";
import { samples } from "./views/samples.js";
import { status } from "./views/status.js";
import { stepper } from "./views/stepper.js";
import { summary } from "./views/summary.js";
import { times } from "./views/times.js";
import { verdict } from "./views/verdict.js";

const LARGE = 20e6; // bytes; a worker's memory never shrinks, so after such a file comes a new one

const state = {
  phase: "loading", // of the engine: loading | ready | failed
  loading: { stage: "loading", fraction: 0 },
  failure: null, // why the engine failed
  schema: null, // of the export options
  file: null, // the last one dropped
  settings: {}, // the export options that it was converted with
  times: null, // {time_step, advance_time}, once the page has been told
  job: null, // {name, stage, fraction} while a file is under way
  result: null, // {name, kind, summary, graph, ports, report, warnings, walkable}
  files: null, // of the result, once they are written: [{key, name, url, size, title, note}]
  walk: null, // the steps taken through the result: {steps, before, state, busy, error}
  error: null, // {name, kind, message, where, hint}
  turns: 0, // files finished, well or not
};

const actions = { take, again, tellTimes, step, rewind, restart: () => engine.start() };
const views = [
  status, drop, samples, progress, error, times, verdict, downloads, summary, graph, report, stepper, options,
].map((view) => view(actions));

function update(changes) {
  Object.assign(state, changes);
  for (const draw of views) draw(state);
  const { phase, job, result, turns } = state;
  const trouble = state.error && (state.error.asks ? "asking" : "error");
  const outcome = job ? "working" : result ? "done" : trouble ?? "none";
  Object.assign(document.body.dataset, { state: phase, job: outcome, turns });
}

const engine = new Engine(({ phase, message = null, times, ...loading }) => {
  if (phase !== "loading") performance.mark(phase, { detail: times });
  if (phase === "warm") return;
  update({ phase, failure: message, ...(phase === "loading" && { loading }) });
});

async function loadSchema() {
  const response = await fetch("options.schema.json");
  update({ schema: await response.json() });
}

/** A file was dropped, chosen or picked from the samples. */
function take(file) {
  performance.mark("drop");
  discardFiles();
  return run({ file, settings: {}, times: null, result: null });
}

/** The same file once more, with the options of the form. */
function again(settings) {
  return run({ settings });
}

/** The same file once more, now that its times are known. */
function tellTimes(told) {
  return run({ times: told });
}

async function run(changes) {
  if (state.job) engine.start(); // the newest wins: the one under way is ended with its worker
  const { file, settings, times: time } = { ...state, ...changes };
  const job = { name: file.name, stage: "reading", fraction: 0 };
  const onProgress = (progress) => { Object.assign(job, progress); update({}); };
  update({ ...changes, job, error: null });
  let outcome;
  try {
    const data = await file.arrayBuffer();
    if (state.job !== job) return;
    const params = { name: file.name, options: settings, time: time ?? {} };
    const { result } = await engine.call("convert", params, data, onProgress);
    const walkable = file.size <= LARGE;
    discardFiles();
    update({ result: { ...result, name: file.name, walkable }, walk: atReset(result) });
    performance.mark("verdict");
    const { blobs } = await engine.call("files", {}, undefined, onProgress);
    outcome = { files: filesOf(file.name, blobs) };
  } catch (reason) {
    if (reason instanceof Cancelled || state.job !== job) return;
    discardFiles();
    const { kind = "Error", message, where = null, hint = null } = reason;
    const asks = kind === "OptionError" && (where === "time_step" || where === "advance_time");
    outcome = { result: null, error: { name: file.name, kind, message, where, hint, asks } };
  }
  update({ ...outcome, job: null, turns: state.turns + 1 });
  if (file.size > LARGE) engine.start();
}

function discardFiles() {
  state.files?.forEach(({ url }) => URL.revokeObjectURL(url));
  update({ files: null });
}

/** No step taken yet. */
function atReset({ ports }) {
  return { steps: [], before: null, state: ports.state, busy: false, error: null };
}

/** One step of the result, run by the engine. */
async function step(inputs) {
  const before = state.walk;
  const walk = { ...before, busy: true, error: null };
  update({ walk });
  let changes;
  try {
    const { result } = await engine.call("step", { inputs, state: before.state });
    const steps = [...before.steps, { inputs, outputs: result.outputs }];
    changes = { steps, before: before.state, state: result.state };
  } catch (reason) {
    changes = { error: reason.message };
  }
  if (state.walk === walk) update({ walk: { ...walk, ...changes, busy: false } });
}

function rewind() {
  update({ walk: atReset(state.result) });
}

update({});
engine.start();
loadSchema();
