// What comes out: the latest steps as a table with a sparkline of each output, and the response as a picture.
import { $, counted, h, soon, svg, whenChanged } from "./dom.js";
import { squares } from "./square.js";

const MOST_COLUMNS = 12; // outputs with a column
const MOST_ROWS = 12; // steps in the table, the latest
const MOST_POINTS = 200; // steps in a sparkline, the latest

const show = (value) => (Number.isFinite(value) ? String(+value.toPrecision(5)) : String(value));

export function outputs() {
  let quiet = () => {};
  return whenChanged((state) => state.player, (playing, { result }) => {
    quiet();
    $("output-panel").hidden = !playing;
    $("output-panel").replaceChildren();
    if (!playing) return;
    const [table, pictures] = [h("div", { className: "table" }), squares(playing, result.ports)];
    $("output-panel").append(h("h2", {}, "Outputs"), table, h("div", { className: "squares" }, ...pictures.map(({ element }) => element)));
    const draw = soon(() => {
      pictures.forEach((each) => each.draw());
      table.replaceChildren(...outputsTable(playing, result.ports.outputs));
    });
    const end = playing.listen(draw);
    quiet = () => { end(); pictures.forEach(({ stop }) => stop()); };
    draw();
  });
}

/** The outputs of the latest steps as a table, with a sparkline of each at its head. */
function outputsTable({ frames, cursor, hasSteps }, names) {
  const shown = names.slice(0, MOST_COLUMNS);
  const head = [
    hasSteps ? h("th", { scope: "col" }, "Step") : h("td"),
    ...shown.map((name, place) => h("th", { scope: "col" }, h("span", { className: "clip", title: name }, name),
      hasSteps ? sparkline(frames.slice(-MOST_POINTS).map(({ outputs }) => outputs[place]),
        cursor - Math.max(0, frames.length - MOST_POINTS)) : "")),
  ];
  const first = Math.max(0, Math.min(cursor - MOST_ROWS + 1, frames.length - MOST_ROWS));
  const rows = frames.slice(first, first + MOST_ROWS).reverse();
  const body = rows.map(({ number, outputs }) => h("tr", { className: number === frames[cursor].number ? "now" : "" },
    h("th", { scope: "row" }, hasSteps ? String(number) : "Output"),
    ...outputs.slice(0, MOST_COLUMNS).map((value) => h("td", { title: String(value) }, show(value)))));
  return [
    h("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Outputs, step by step" },
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
