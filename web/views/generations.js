// A run of evolution as a timeline: checkpoints in their order, or the networks of a population, the best first.
import { $, button, h, svg, whenChanged } from "./dom.js";

const [WIDTH, HEIGHT] = [600, 44];
const PACE = 900; // ms between two generations

export function generations({ open, pick }) {
  let timer = 0;
  const select = h("select", { ariaLabel: "Genome", "data-testid": "genome", onchange: () => pick(Number(select.value)) });
  const stop = () => {
    clearInterval(timer);
    timer = 0;
  };
  return whenChanged((state) => (state.series ? `${state.series.id} ${state.series.known}` : "") + state.turns, (_, { result, series, made }) => {
    const steps = series ? series.files.map((file, place) => ({ label: file.label, current: place === series.at, fitness: series.facts[place]?.fitness, note: noteOf(series.facts[place]), go: () => open(place) }))
      : (result?.members ?? []).slice(0, 60).map(({ id, fitness, neurons }) => ({ label: String(id), current: id === made?.genome || id === result.genome, fitness, note: `${neurons} neurons`, go: () => pick(id) }));
    $("generations").hidden = !result || steps.length < 2;
    if ($("generations").hidden) return stop();
    const now = Math.max(0, steps.findIndex(({ current }) => current));
    const move = (by) => steps[(now + by + steps.length) % steps.length].go();
    const named = (text, title, onclick) => button(text, onclick, { ariaLabel: title, title });
    const play = named(timer ? "❚❚" : "▶", timer ? "Pause" : "Play all", () => {
      if (timer) { stop(); play.textContent = "▶"; return; }
      play.textContent = "❚❚";
      timer = setInterval(() => $("generations").querySelector("[data-next]")?.click(), PACE);
      move(1);
    });
    const next = named("▸", "Next", () => move(1));
    next.dataset.next = "";
    const track = h("div", { className: "track", role: "group", tabIndex: 0, ariaLabel: series ? "Generations" : "Networks of the population, the best first" },
      fitnessOf(steps), h("div", { className: "steps" }, ...steps.map(({ label, current, note, go }) => h("button", {
        type: "button", className: "step", ariaPressed: String(current), title: note, onclick: go,
      }, label))));
    const members = result.members.map(({ id, neurons, connections }, place) => h("option", { value: id }, `${id}${place ? "" : ", the first"}: ${neurons} neurons, ${connections} connections`));
    select.replaceChildren(...members);
    if (members.length) select.value = String(result.genome);
    $("generations").replaceChildren(h("h2", {}, series ? "Generations" : "Population"), members.length ? select : "", named("◂", "Previous", () => move(-1)), play, next, track,
      h("p", { className: "soft" }, steps[now].note ?? ""));
    const { offsetLeft, offsetWidth } = track.querySelector("[aria-pressed=true]") ?? track;
    track.scrollLeft = offsetLeft - (track.clientWidth - offsetWidth) / 2; // and the page stays where it is
    return undefined;
  });
}

const noteOf = (facts) => (facts?.size ? [`best of ${facts.size}`, facts.fitness !== null && `fitness ${+facts.fitness.toPrecision(4)}`, facts.species && `${facts.species} species`].filter(Boolean).join(", ") : "");

/** The fitness of all steps as a line. */
function fitnessOf(steps) {
  const values = steps.map(({ fitness }) => fitness ?? NaN);
  const numbers = values.filter(Number.isFinite);
  if (numbers.length < 2) return "";
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const x = (place) => ((place + 0.5) / steps.length) * WIDTH;
  const y = (value) => HEIGHT - 4 - ((value - low) / (high - low || 1)) * (HEIGHT - 8);
  const points = values.flatMap((value, place) => (Number.isFinite(value) ? [`${x(place).toFixed(1)},${y(value).toFixed(1)}`] : []));
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "fitness", role: "img", "aria-label": `Fitness from ${+low.toPrecision(4)} to ${+high.toPrecision(4)}` },
    svg("polyline", { points: points.join(" ") }));
}
