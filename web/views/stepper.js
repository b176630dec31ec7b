// Stepping through a network: what goes in, what comes out, and what it remembers in between.
import { $, count, counted, h, svg, whenChanged } from "./dom.js";

const MOST_FIELDS = 16; // inputs with a field of their own, and outputs with a column
const MOST_VALUES = 32; // remembered values shown
const MOST_ROWS = 12; // steps in the table, the latest
const MOST_POINTS = 120; // steps in a sparkline, the latest

const show = (value) => (typeof value === "number" ? String(+value.toPrecision(5)) : value);
const random = () => Math.round((Math.random() * 2 - 1) * 1000) / 1000;

export function stepper({ step, rewind }) {
  let form = null;
  let fields = [];

  const build = whenChanged((state) => state.result, (result) => {
    $("stepper").hidden = !result?.walkable;
    if (!result?.walkable) return;
    const { inputs } = result.ports;
    fields = inputs.length > MOST_FIELDS ? [] : inputs.map(numberField);
    form = inputForm(fields, inputs.length, { step, rewind });
    $("stepper-inputs").replaceChildren(form);
  });

  const draw = whenChanged((state) => state.walk, (walk, { result }) => {
    if (!result?.walkable) return;
    const number = walk.steps.length;
    $("stepper-told").textContent = number ? `After step ${count(number)}` : "No step taken yet";
    $("stepper-steps").replaceChildren(...taken(walk, result.ports.outputs));
    $("stepper-state").replaceChildren(...remembered(walk));
  });

  return (state) => {
    build(state);
    draw(state);
    if (form) form.querySelector("[type=submit]").disabled = Boolean(state.walk?.busy || state.job);
  };
}

const numberField = (name, place) => ({
  name,
  input: h("input", {
    type: "number", step: "any", required: true, defaultValue: "0", id: `step-input-${place}`,
    inputMode: "decimal", "data-testid": `step-input-${place}`,
  }),
});

function inputForm(fields, width, { step, rewind }) {
  const throwDice = () => fields.forEach(({ input }) => { input.value = random(); });
  const button = (text, name, properties) => h("button", {
    className: "button", type: "button", "data-testid": name, ...properties,
  }, text);
  const form = h("form", {},
    fields.length
      ? h("div", { className: "numbers" }, ...fields.map(({ name, input }) => h("div", { className: "field" },
        h("label", { htmlFor: input.id }, name), input)))
      : h("p", { className: "soft" }, `${counted(width, "input")}: each step gets random ones.`),
    h("div", { className: "buttons" },
      button("Step", "step-button", { type: "submit", className: "button primary" }),
      fields.length ? button("Random input", "step-random", { onclick: throwDice }) : null,
      button("Reset", "step-reset", { onclick: rewind })));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    step(fields.length ? fields.map(({ input }) => input.valueAsNumber) : Array.from({ length: width }, random));
  });
  return form;
}

/** The outputs of the latest steps as a table, with a sparkline of each at its head. */
function taken({ steps, error }, names) {
  if (error) return [h("p", { className: "warning", role: "alert" }, `${error}.`)];
  if (!steps.length) return [h("p", { className: "soft" }, "None yet.")];
  const shown = names.slice(0, MOST_FIELDS);
  const first = Math.max(0, steps.length - MOST_ROWS);
  const head = [h("th", { scope: "col" }, "Step"), ...shown.map((name, place) => h("th", { scope: "col" },
    name, sparkline(steps.slice(-MOST_POINTS).map(({ outputs }) => outputs[place]))))];
  const rows = steps.slice(first).map(({ outputs }, place) => [String(first + place + 1), ...outputs.slice(0, MOST_FIELDS)]);
  return [
    table(head, rows.reverse(), "Outputs", "step-outputs"),
    names.length > shown.length ? left(names.length - shown.length, "output") : "",
  ];
}

function remembered({ before, state }) {
  if (!state.length) return [h("p", { className: "soft" }, "It remembers nothing from one step to the next.")];
  const rows = state.slice(0, MOST_VALUES)
    .map((value, place) => [String(place + 1), before ? before[place] : "", value]);
  const head = ["Value", "Before", "After"].map((text) => h("th", { scope: "col" }, text));
  return [
    table(head, rows, "Memory", "step-state"),
    state.length > rows.length ? left(state.length - rows.length, "value") : "",
  ];
}

const left = (number, noun) => h("p", { className: "soft" }, `and ${counted(number, noun)} more`);

const table = (head, rows, title, name) => h("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: title },
  h("table", { "data-testid": name }, h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...rows.map(([first, ...others]) => h("tr", {},
      h("th", { scope: "row" }, first), ...others.map((value) => h("td", { title: String(value) }, show(value))))))));

function sparkline(values) {
  const numbers = values.filter((value) => typeof value === "number");
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const points = values.map((value, place) => [
    values.length > 1 ? (place / (values.length - 1)) * 58 + 1 : 30,
    high > low ? 15 - ((value - low) / (high - low)) * 14 : 8,
  ]).filter((point) => point.every(Number.isFinite));
  return svg("svg", { viewBox: "0 0 60 16", class: "sparkline", "aria-hidden": "true" },
    svg("polyline", { points: points.map((point) => point.join(",")).join(" ") }),
    svg("circle", { cx: points.at(-1)?.[0] ?? -9, cy: points.at(-1)?.[1] ?? -9, r: 1.8 }));
}
