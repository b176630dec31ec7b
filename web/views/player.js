// Playing with the network: what goes in, what comes out, and the steps of one with memory.
import { $, count, counted, h, svg, whenChanged } from "./dom.js";
import { image } from "./image.js";
import { inputPanel } from "./inputs.js";
import { soon } from "./soon.js";
import { surface } from "./surface.js";

const MOST_COLUMNS = 12; // outputs with a column
const MOST_ROWS = 12; // steps in the table, the latest
const MOST_POINTS = 200; // steps in a sparkline, the latest

const show = (value) => (Number.isFinite(value) ? String(+value.toPrecision(5)) : String(value));

export function player() {
  let quiet = () => {};
  return whenChanged((state) => state.player, (playing, { result }) => {
    quiet();
    $("player").hidden = !playing;
    if (!playing) return;
    const inputs = inputPanel(playing, result.ports.inputs);
    const time = playing.hasMemory ? timePanel(playing) : null;
    const plane = surface(playing, result.ports);
    $("player-inputs").replaceChildren(inputs.element);
    $("player-time").hidden = !time;
    $("player-time").replaceChildren(...(time ? [time.element] : []));
    const picture = image(playing, result.ports);
    const squares = [plane, picture].filter(Boolean);
    $("player-surface").replaceChildren(...squares.map(({ element }) => element));
    $("player-surface").hidden = !squares.length;
    const draw = soon(() => {
      inputs.draw();
      time?.draw();
      plane?.draw();
      $("player-outputs").replaceChildren(...outputsTable(playing, result.ports.outputs));
    });
    const end = playing.listen(draw);
    quiet = () => { end(); squares.forEach(({ stop }) => stop()); };
    draw();
  });
}

function timePanel(playing) {
  const button = (text, name, onclick) => h("button", {
    type: "button", className: "button", "data-testid": name, onclick,
  }, text);
  const play = button("Play", "step-play", () => (playing.playing ? playing.stop() : playing.play()));
  const slider = h("input", {
    type: "range", min: 1, max: 1, value: 1, ariaLabel: "Step looked at", "data-testid": "step-scrub",
    oninput: () => playing.look(slider.valueAsNumber - 1 - playing.forgotten),
  });
  const label = h("output", { className: "soft", "data-testid": "step-label" });
  return {
    element: h("div", { className: "buttons" }, play,
      button("Step", "step-button", () => playing.step()),
      button("Reset", "step-reset", () => playing.reset()), slider, label),
    draw() {
      const { number } = playing.frame;
      const last = playing.forgotten + playing.frames.length;
      play.textContent = playing.playing ? "Pause" : "Play";
      Object.assign(slider, { min: playing.forgotten + 1, max: last, disabled: last < 2 });
      slider.valueAsNumber = number;
      label.textContent = `Step ${count(number)} of ${count(last)}`;
    },
  };
}

/** The outputs of the latest steps as a table, with a sparkline of each at its head. */
function outputsTable({ frames, cursor, hasMemory }, names) {
  const shown = names.slice(0, MOST_COLUMNS);
  const head = [
    hasMemory ? h("th", { scope: "col" }, "Step") : h("td"),
    ...shown.map((name, place) => h("th", { scope: "col" }, h("span", { className: "clip", title: name }, name),
      hasMemory ? sparkline(frames.slice(-MOST_POINTS).map(({ outputs }) => outputs[place]),
        cursor - Math.max(0, frames.length - MOST_POINTS)) : "")),
  ];
  const first = Math.max(0, Math.min(cursor - MOST_ROWS + 1, frames.length - MOST_ROWS));
  const rows = frames.slice(first, first + MOST_ROWS).reverse();
  const body = rows.map(({ number, outputs }) => h("tr", { className: number === frames[cursor].number ? "now" : "" },
    h("th", { scope: "row" }, hasMemory ? String(number) : "Output"),
    ...outputs.slice(0, MOST_COLUMNS).map((value) => h("td", { title: String(value) }, show(value)))));
  return [
    h("h3", {}, "Outputs"),
    h("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Outputs" },
      h("table", { "data-testid": "step-outputs" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...body))),
    names.length > shown.length
      ? h("p", { className: "soft" }, `and ${counted(names.length - shown.length, "output")} more`) : "",
  ];
}

function sparkline(values, at) {
  const numbers = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const place = (value, index) => [
    values.length > 1 ? (index / (values.length - 1)) * 58 + 1 : 30,
    high > low ? 15 - ((value - low) / (high - low)) * 14 : 8,
  ];
  const points = values.map(place).filter((point) => point.every(Number.isFinite));
  const [x, y] = place(values[at], at);
  return svg("svg", { viewBox: "0 0 60 16", class: "sparkline", "aria-hidden": "true" },
    svg("polyline", { points: points.map((point) => point.join(",")).join(" ") }),
    ...(Number.isFinite(y) ? [svg("circle", { cx: x, cy: y, r: 1.8 })] : []));
}
