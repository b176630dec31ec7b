// The page's state, all of it, and what changes it. Views draw it; the engine does the work.
import { Cancelled, Engine, whyFailed } from "./engine.js";
import { Player } from "./live/player.js";
import { Evaluator } from "./live/evaluator.js";
import { save, stemOf } from "./files.js";
import { linked, linkTo } from "./link.js";
import { completed, genomeMissing, isConfiguration, missingFileOf } from "./neat-python.js";
import { checkByRuntime, endCheck } from "./runtime-check.js";
import { isEmbedded, keepOffline } from "./spawn.js";
import { keepRecent, recentFiles } from "./recent.js";
import { sentence } from "./views/dom.js";
import { changes, difference } from "./views/difference.js";
import { drop } from "./views/drop.js";
import { error, missingFile } from "./views/error.js";
import { facts, questionOf } from "./views/facts.js";
import { generations } from "./views/generations.js";
import { filmOfRuns, filmOfSteps } from "./views/film.js";
import { graph } from "./views/graph.js";
import { importing, portsOf } from "./views/importing.js";
import { inputs } from "./views/inputs.js";
import { inspector } from "./views/inspector.js";
import { living } from "./views/living.js";
import { downloads, files, share } from "./views/menus.js";
import { modelGraph } from "./views/model-graph.js";
import { neuron } from "./views/neuron.js";
import { options } from "./views/options.js";
import { outputs } from "./views/outputs.js";
import { pngOf } from "./views/picture.js";
import { progress } from "./views/progress.js";
import { run as programs } from "./views/run.js";
import { samples } from "./views/samples.js";
import { report, summary } from "./views/summary.js";
import { notice, offline, outcomeOf, reportOf, status, verdict } from "./views/verdict.js";

const PAUSE = 500; // ms before the runtime check: the engine is busy with it, and a next file would wait
const LARGE = 20e6; // bytes; a worker's memory never shrinks, so after such a file comes a new one

const state = {
  phase: "loading", // of the engine: loading | ready | failed
  loading: { stage: "loading", fraction: 0 },
  failure: null, // why the engine failed
  schema: null, // of the export options
  wanted: null, // the conversion asked for last: {name, load(), sample, configuration, other, genome, settings, facts, importOptions, edits}
  job: null, // {name, stage, fraction} while something is under way
  made: null, // what the result was made with, like `wanted`
  result: null, // {name, kind, summary, ports, report, warnings}: the last good one
  drawn: null, // the result as it is drawn: {graph, svg, centre, asked}; null until the engine has said it
  check: null, // of the result by a second runtime: {} while it runs, then {report}, {failed} or {large}
  other: null, // the result compared with another file: {name, genome, function, drawing} or {name, failed}
  series: null, // checkpoints of a run: {id, files: [{name, load, label}], at, facts: [{size, fitness, species}], known, configuration}
  recent: recentFiles(), // {on, entries}
  link: null, // the part of the address that brings it back; null if it would be too long
  player: null, // plays with the result; null if it is too large
  selected: -1, // the neuron looked at
  lit: [], // the neurons of the node of the model that is pointed at
  error: null, // {name, kind, message, where, hint, obstacles, ports, import, asks: times | cycles | size | configuration | genome}
  notice: null, // a sentence
  offline: false, // whether the browser has kept the site
  turns: 0, // files finished, well or not
};

const actions = {
  take, pick, open, takeSeries, download, cancel, notify, edit, tune, edited,
  select: (selected) => update({ selected }),
  light: (lit) => update({ lit }), // neurons in the drawing
  again: (settings) => run({ ...state.made, settings }), // with the options of the form
  giveFacts: (facts) => run({ ...state.wanted, facts: { ...state.wanted.facts, ...facts } }), // that the file does not say
  importAgain: (importOptions) => run({ ...(state.error?.ports ? state.wanted : state.made), importOptions }), // a model
  look, animate,
  plot: () => asked("parity"), lookIntoModel: () => asked("model_graph"), refusals: () => asked("refusals"),
  programs: () => asked("programs", { file: `${stemOf(state.result.name)}.onnx`, wheel: document.querySelector("a[href*=whl]")?.href }),
  undo: () => edited(state.made.edits.slice(0, -1)),
  dismiss: () => update({ error: null, notice: null }),
  recall: (link) => { location.hash = link; },
  keep: (on) => update({ recent: keepRecent(on ? state.recent.entries : null) }),
  clear: () => update({ recent: keepRecent(state.recent.on ? [] : null) }),
  restart: () => engine.start(),
  saveSvg: () => download({ kind: "svg", suffix: ".svg" }),
  savePng: () => download({ kind: "svg", suffix: ".png", as: pngOf }),
};
const views = [
  status, drop, samples, notice, error, importing, missingFile, facts, verdict, files, downloads, share, progress, summary, inputs, outputs,
  graph, neuron, changes, difference, modelGraph, report, programs, options, inspector, generations, offline,
].map((view) => view(actions));

function update(changes) {
  Object.assign(state, changes);
  for (const draw of views) draw(state);
  const { phase, job, result, turns } = state;
  const trouble = state.error && (state.error.asks ? "asking" : "error");
  const outcome = job ? "working" : trouble ?? (result ? "done" : "none");
  Object.assign(document.body.dataset, { state: phase, job: outcome, turns });
}

let held = null; // the result whose network the engine has
let read = {}; // the file read last: {load, data}
let waiting = null; // edits that came while the engine was busy

const engine = new Engine(({ phase, message = null, times, ...loading }) => {
  if (phase !== "ready" && phase !== "warm") held = null;
  if (phase !== "loading") performance.mark(phase, { detail: times });
  if (phase === "warm") return void keep();
  update({ phase, failure: message, ...(phase === "loading" && { loading }) });
});

async function loadSchema() {
  try {
    const response = await fetch("schema/options.schema.json");
    if (!response.ok) throw new Error(response.status);
    update({ schema: await response.json() });
  } catch {
    notify("The form of the export options could not be loaded: reload the page to get it.");
  }
}

/** A file was dropped, chosen, pasted or picked from the samples; `load` gives it. */
function take(name, load, { sample = null, configuration = null, other = null, facts = null, series = null } = {}) {
  performance.mark("drop");
  update({ series });
  return run({ name, load, sample, configuration, other, genome: null, settings: {}, facts, importOptions: {}, edits: [] });
}

/** Checkpoints of one run, in order: the last is shown, and a timeline has the others. */
async function takeSeries(found, configuration) {
  const entries = found.map(({ name, load }) => ({ name, load, label: /\d+(?=\D*$)/.exec(name)?.[0] ?? name }));
  const series = { id: Date.now(), files: entries, at: entries.length - 1, facts: [], known: 0, configuration };
  const { name, load } = entries.at(-1);
  await take(name, load, { configuration, series });
  for (const [place, file] of entries.entries()) {
    const data = await file.load().then((each) => each.arrayBuffer()).catch(() => null);
    const facts = data && await engine.call("population", {}, data).then(({ result }) => result, () => null);
    if (state.series !== series) return;
    series.facts[place] = facts;
    series.known += 1;
    update({});
  }
}

/** Another checkpoint of the series. */
function open(at) {
  const { files: entries, configuration } = state.series;
  state.series.at = at;
  const { name, load } = entries[at];
  return run({ ...state.made, name, load, sample: null, configuration, other: null, genome: null, edits: [] });
}

/** Change a gene of the drawing: an edit as neat_onnx/page/editing.py takes it, with the gene's name for people. */
function edit({ connection, neuron: shown, ...change }) {
  const { neurons, connections } = state.drawn.graph;
  const of = connections[connection] ?? neurons[shown];
  const which = "gene" in of ? { connection: of.gene } : { neuron: of.place };
  const gene = "gene" in of ? `${neurons[of.source].label} → ${neurons[of.target].label}` : of.label;
  return edited([...state.made.edits, { ...which, ...change, gene, before: of[Object.keys(change)[0]] }]);
}

/** The result with these edits, and no others; while the engine is busy with the edit before, they wait. */
function edited(edits) {
  if (state.job) return void (waiting = edits);
  return run({ ...state.made, edits });
}

/** Try a number where it is played with, before it is changed for good. */
function tune({ edge = -1, weight, neuron: place = -1, bias }) {
  const { player } = state;
  if (!player) return;
  if (edge >= 0) player.evaluator.weight[edge] = weight;
  if (place >= 0) player.evaluator.bias[place] = bias;
  player.refresh();
}

/** Draw the result in another way, as the bridge's `drawing` takes it. */
async function look(wanted) {
  const drawn = await asked("drawing", wanted);
  if (drawn.failed) return notify(sentence(drawn.failed));
  const selected = drawn.graph?.neurons.findIndex(({ place }) => place === drawn.centre) ?? -1;
  return update({ drawn: { ...drawn, asked: wanted }, selected });
}

/** Another network of the population that the result is one of. */
function pick(genome) {
  return run({ ...state.made, genome, edits: [] });
}

/** Do what the address asks for, if it asks for something else than what is there. */
function follow() {
  document.body.toggleAttribute("data-embed", isEmbedded());
  const wanted = linked(location.hash);
  if (!wanted && state.result) leave();
  if (!wanted || location.hash === state.link) return;
  update({ series: null });
  run(wanted);
}

/** Back to the beginning. */
function leave() {
  endCheck();
  state.player?.stop();
  update({ result: null, made: null, drawn: null, link: null, player: null, check: null, other: null, series: null, error: null, notice: null, selected: -1 });
}

/** Have the site kept, once nothing more urgent comes. */
async function keep() {
  if (!state.offline && !document.body.hasAttribute("data-embed")) update({ offline: await keepOffline() });
}

/** Have the address bring the result back. */
async function address(made) {
  const link = await linkTo(made).catch(() => null); // its file cannot be read any more
  if (state.made !== made) return;
  const others = state.recent.entries.filter((each) => each.link !== link);
  const recent = link && state.recent.on ? keepRecent([{ name: made.name, link }, ...others]) : state.recent;
  update({ link, recent });
  const embed = document.body.hasAttribute("data-embed") && link ? `${link}&embed` : link;
  if (location.hash !== (embed ?? "")) history.pushState(null, "", embed ?? location.pathname + location.search);
}

/** Save the generations, or some steps of a network, as an animation with the verdict in the corner. */
async function animate(said) {
  const { series, result } = state;
  const runs = series ? series.files.map((_, at) => () => open(at)) : result.members.map(({ id }) => () => pick(id));
  const words = () => {
    if (state.error) throw state.error;
    const which = state.series?.files[state.series.at].label ?? state.made.genome ?? state.result.genome;
    return [which, outcomeOf(reportOf(state), state.made.settings).word, "neat_onnx"].filter((part) => part !== null).join(" · ");
  };
  try {
    saveAs("webp", await (runs.length > 1 ? filmOfRuns(runs, words) : filmOfSteps(state.player, words)));
  } catch (reason) {
    said(sentence(`The animation could not be made: ${whyFailed(reason)}`));
  }
}

function notify(text) {
  update({ notice: text });
}

/** End whatever is under way; the last good result stays. */
function cancel() {
  if (!state.job) return;
  if (state.phase === "ready") engine.start();
  update({ job: null, turns: state.turns + 1 });
}

function begin(name) {
  if (state.job && state.phase === "ready") engine.start(); // the newest wins: it ends the other's worker
  const job = { name, stage: "reading", fraction: 0 };
  const onProgress = (progress) => {
    Object.assign(job, progress);
    if (state.job === job) update({});
  };
  return { job, onProgress, current: () => state.job === job };
}

async function run(wanted) {
  const { job, onProgress, current } = begin(wanted.name);
  const [before, looked] = state.made?.load === wanted.load ? [state.player, state.drawn?.asked] : [];
  const asked = { asks: state.error?.asks, wanted: state.wanted };
  endCheck();
  update({ wanted, job, error: null, notice: null });
  let outcome;
  try {
    const { result, size } = await convert(wanted, onProgress, current);
    if (!current()) return;
    show(wanted, result);
    performance.mark("verdict");
    address(wanted);
    update({ drawn: { ...(await engine.call("drawing", looked)).result, asked: looked } });
    const live = await livePlan();
    if (live && before) live.continued(before);
    outcome = { player: live, other: wanted.other && await comparison(wanted.other, onProgress) };
    if (size > LARGE) {
      read = {};
      engine.start();
    }
  } catch (reason) {
    if (reason instanceof Cancelled || !current()) return;
    const whole = completed(wanted, missingFileOf(reason), asked);
    if (whole) {
      state.job = null; // it has ended: the engine is free
      return run(whole);
    }
    const ports = await portsOf(engine, wanted, reason);
    if (!current()) return;
    outcome = { error: { ...problem(wanted.name, reason), ports } };
  }
  update({ ...outcome, job: null, turns: state.turns + 1 });
  if (waiting && state.made === wanted) {
    const edits = waiting;
    waiting = null;
    return edited(edits);
  }
  waiting = null;
  if (state.made === wanted) {
    if (state.phase === "ready") checkResult();
    else if (!outcome.error) update({ check: { large: true } });
  }
}

/** The result compared with another file: {name, genome, function, drawing}, or {name, failed}: why not. */
async function comparison({ name, load, configuration }, onProgress) {
  try {
    const config = configuration ? await (await configuration.load()).text() : null;
    const data = await (await load()).arrayBuffer();
    const { result } = await engine.call("difference", { name, config }, data, onProgress);
    return { name, ...result };
  } catch (reason) {
    if (reason instanceof Cancelled) throw reason;
    return { name, failed: whyFailed(reason) };
  }
}

/** Have another runtime run the model of the result, unless another file comes at once. */
async function checkResult() {
  const { result, wanted } = state;
  update({ check: {} });
  await new Promise((resolve) => setTimeout(resolve, PAUSE));
  if (state.result !== result) return;
  if (state.wanted !== wanted) return update({ check: null });
  const found = await checkByRuntime(engine).then((report) => ({ report }),
    (error) => (error instanceof Cancelled ? null : { failed: error.message }));
  if (state.result === result) update({ check: found });
}

async function convert(wanted, onProgress, current) {
  const { name, load, configuration, genome, settings, facts, importOptions, edits } = wanted;
  onProgress({ stage: "fetching" });
  if (read.load !== load) {
    const whole = await (await load()).arrayBuffer().catch(() => {
      throw { message: "this cannot be read: it has been moved or changed, or it is a folder" };
    });
    read = { load, data: whole }; // an edit need not fetch it again
  }
  const data = read.data.slice(); // the worker takes it away
  if (!current()) throw new Cancelled("another file came");
  if (isConfiguration(data)) throw genomeMissing;
  const config = configuration && await (await configuration.load()).text();
  const params = { name, config, genome, options: settings, facts: facts ?? {}, import: importOptions, edits };
  const { result, warnings } = await engine.call("convert", params, data, onProgress);
  held = { ...result, warnings };
  return { result: held, size: read.data.byteLength };
}

function show(made, result) {
  state.player?.stop();
  const again = state.made?.load === made.load; // the same file: what is looked at stays until it is drawn anew
  const kept = again ? {} : { drawn: null, player: null, selected: -1 };
  update({ made, result: { ...result, name: made.name }, link: null, check: null, other: null, lit: [], ...kept });
  held = state.result;
}

/** Have the engine hold the result's network, which it forgets when it is started anew. */
async function hold(onProgress) {
  if (held === state.result) return;
  const { result } = state;
  await convert(state.made, onProgress, () => state.result === result);
  held = result;
}

/** What a method of the bridge says of the result, or {failed}: why not. */
async function asked(method, params = {}) {
  try {
    await hold(() => {});
    const { result } = await engine.call(method, params);
    return result;
  } catch (reason) {
    return { failed: whyFailed(reason) };
  }
}

/** Give the result as a file of a kind, which the engine writes. */
async function download({ kind, suffix, as = null }) {
  const stem = stemOf(state.result.name);
  const { job, onProgress, current } = begin(`${stem}${suffix}`);
  update({ job, error: null, notice: null });
  let outcome;
  try {
    await hold(onProgress);
    const { result: { name }, warnings, blobs: { file } } = await engine.call("file", { kind, file: job.name }, undefined, onProgress);
    if (!current()) return;
    const blob = new Blob([file]);
    save(as ? job.name : name, as ? await as(await blob.text()) : blob);
    outcome = { notice: kind.includes("-") ? warnings.join(" ") || null : null }; // of the others, the verdict has them
  } catch (reason) {
    if (reason instanceof Cancelled || !current()) return;
    outcome = { error: problem(job.name, reason) };
  }
  update({ ...outcome, job: null });
}

function saveAs(ending, blob) {
  save(`${stemOf(state.result.name)}.${ending}`, blob);
}

/** What plays with the result: null if the engine says that it is too large. */
async function livePlan() {
  try {
    const { result, blobs } = await engine.call("plan");
    return new Player(new Evaluator(result, blobs));
  } catch (reason) {
    if (reason.kind === "DocumentError") return null;
    throw reason;
  }
}

function problem(name, reason) {
  const { kind = "Error", message, where = null, hint = null, obstacles = [], import: helpful = {} } = reason;
  return { name, kind, message, where, hint, obstacles, import: helpful, asks: questionOf({ kind, where }) ?? missingFileOf(reason) };
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape") cancel();
});
addEventListener("popstate", follow);
document.getElementById("home").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || !state.result) return;
  event.preventDefault();
  history.pushState(null, "", location.pathname + location.search);
  leave();
});
document.body.dataset.alive = "";
update({});
engine.start();
living();
loadSchema();
follow();
