// What goes into the network: a slider and a number for each input, at the height of its port where there is
// room; all of them as one text; or rows as a sequence, which Play goes through.
import { $, button, count, counted, field, h, soon, whenChanged } from "./dom.js";
import { whenMeasured } from "./graph.js";

const MOST_FIELDS = 24; // inputs with a slider of their own
const ROOM = 46; // px that a slider takes
export const PERIOD = 24; // steps of a sine or a ramp

const random = () => Math.round((Math.random() * 2 - 1) * 1000) / 1000;
export const SEQUENCES = {
  sine: (step, place) => Math.sin((2 * Math.PI * (step + place * 5)) / PERIOD),
  ramp: (step) => ((step % PERIOD) / (PERIOD - 1)) * 2 - 1,
};

/** The numbers in a text, whatever stands between them: "[0.5, 1e3; -2]" → [0.5, 1000, -2]. */
function numbersIn(text) {
  const words = text.split(/[^\d.eE+\-]+/).filter((word) => /\d/.test(word)).map(Number);
  return words.every(Number.isFinite) ? words : [];
}

/** The rows of a text: a line each, those without a number left out, as headings are. */
const rowsIn = (text) => text.split(/\r?\n/).map(numbersIn).filter((row) => row.length);

export function inputs() {
  let quiet = () => {};
  return whenChanged((state) => state.player, (playing, { result }) => {
    quiet();
    $("input-panel").replaceChildren();
    $("input-panel").classList.remove("aligned");
    $("result").classList.toggle("unplayable", Boolean(result) && !playing);
    if (!playing) {
      if (result) $("input-panel").append(h("h2", {}, "Inputs"), h("p", { className: "soft" }, "Once the network is read, it can be played with here; one of more than 200,000 connections is too large for that."));
      return;
    }
    const panel = panelOf(playing, result.ports);
    $("input-panel").append(...panel.elements);
    const end = playing.listen(soon(panel.draw));
    whenMeasured(panel.align);
    quiet = () => { end(); whenMeasured(() => {}); };
    panel.draw();
  });
}

function panelOf(playing, { inputs: names, input_neurons: neurons }) {
  const fields = names.slice(0, MOST_FIELDS).map((name, place) => sliderOf(playing, name, place));
  const all = vector(playing, names.length);
  const time = timePanel(playing);
  const ports = h("div", { className: "ports" }, ...fields.map(({ element }) => element));
  const sequence = h("select", { ariaLabel: "Where inputs come from", "data-testid": "sequence", onchange: () => {
    const wave = SEQUENCES[sequence.value];
    playing.follow(wave ? (step) => names.map((_, place) => wave(step, place)) : null);
    draw();
  } }, h("option", { value: "" }, "by hand"), h("option", { value: "sine" }, "a sine"), h("option", { value: "ramp" }, "a ramp"), h("option", { value: "rows" }, "rows below"));
  const draw = () => {
    [...fields, all].forEach((each) => each.draw());
    time.draw();
    if (playing.rows && sequence.value !== "rows") sequence.value = "rows";
    sequence.lastElementChild.disabled = !playing.rows;
  };
  const below = h("div", { className: "below-ports" },
    names.length > MOST_FIELDS ? h("p", { className: "soft" }, `and ${counted(names.length - MOST_FIELDS, "input")} more, in the text below.`) : "",
    time.element,
    h("div", { className: "buttons" }, button("Random", () => playing.give(Array.from(names, random)), { "data-testid": "step-random" }),
      button("Zeros", () => playing.give(Array.from(names, () => 0)))),
    h("p", { className: "choice" }, h("span", { className: "soft", ariaHidden: "true" }, "Inputs:"), sequence),
    all.element);
  const align = ({ scene, top }) => {
    const placed = new Map(scene.neurons.map(({ place }, at) => [place, scene.at[at]]));
    const at = neurons.slice(0, MOST_FIELDS).map((neuron) => placed.get(neuron)?.[1] + top - ROOM / 2 - 4);
    const end = $("input-panel").clientHeight - below.offsetHeight - ROOM - 8;
    const fits = names.length <= MOST_FIELDS && innerWidth >= 1000
      && at.every((y, place) => y >= 0 && y <= end && (!place || y - at[place - 1] >= ROOM));
    $("input-panel").classList.toggle("aligned", fits);
    fields.forEach(({ element }, place) => { element.style.top = fits ? `${at[place]}px` : ""; });
  };
  return { elements: [ports, below], draw, align };
}

function sliderOf(playing, name, place) {
  const id = `step-input-${place}`;
  const number = h("input", {
    type: "number", step: "any", value: "0", id, inputMode: "decimal", "data-testid": id,
    oninput: () => Number.isFinite(number.valueAsNumber) && playing.give([number.valueAsNumber], place),
    onpaste: (event) => {
      const values = numbersIn(event.clipboardData.getData("text/plain"));
      if (values.length < 2) return;
      event.preventDefault();
      playing.give(values, place);
    },
  });
  const slider = h("input", {
    type: "range", min: -1, max: 1, step: 0.01, value: 0, ariaLabel: `${name}, slider`,
    "data-testid": `slide-input-${place}`, oninput: () => playing.give([slider.valueAsNumber], place),
  });
  return {
    element: h("div", { className: "slider" }, h("label", { htmlFor: id, className: "clip", title: name }, name), number, slider),
    draw() {
      const value = playing.inputs[place];
      const reach = Math.max(1, Math.abs(value));
      if (reach > slider.max) Object.assign(slider, { min: -reach, max: reach });
      if (document.activeElement !== slider) slider.value = value;
      if (document.activeElement !== number) number.value = value;
    },
  };
}

/** All inputs as one text, to be typed or pasted; several lines, or a CSV file, are a sequence. */
function vector(playing, size) {
  const message = h("p", { className: "soft", role: "status" });
  const take = () => {
    const rows = rowsIn(area.value);
    const [values = []] = rows;
    if (rows.length > 1 && rows.every((row) => row.length === size)) {
      playing.follow((step) => rows[step % rows.length], rows);
      message.textContent = `${counted(rows.length, "row")}: Play goes through them.`;
      return;
    }
    const numbers = numbersIn(area.value);
    message.textContent = rows.length > 1 && numbers.length > size ? `A row needs ${counted(size, "number")}, the first has ${values.length}.`
      : numbers.length === size ? "" : `${counted(numbers.length, "number")} for ${counted(size, "input")}: the others stay as they are.`;
    playing.give(numbers.slice(0, size));
  };
  const area = h("textarea", { rows: 2, spellcheck: false, id: "input-vector", "data-testid": "input-vector", oninput: take });
  const chosen = h("input", { type: "file", accept: ".csv,.txt,text/csv", ariaLabel: "CSV file of rows", onchange: async () => {
    if (!chosen.files.length) return;
    area.value = await chosen.files[0].text();
    take();
  } });
  return {
    element: h("details", { open: size > MOST_FIELDS }, h("summary", {}, "All inputs as one text"),
      field("Numbers; several lines are steps", area), message, chosen),
    draw() {
      if (document.activeElement === area || playing.rows) return;
      area.value = Array.from(playing.inputs, (value) => +value.toPrecision(6)).join(", ");
    },
  };
}

/** Play, step and reset, for a network with memory or a sequence. */
function timePanel(playing) {
  const play = button("Play", () => (playing.playing ? playing.stop() : playing.play()), { "data-testid": "step-play" });
  const slider = h("input", {
    type: "range", min: 1, max: 1, value: 1, ariaLabel: "Step looked at", "data-testid": "step-scrub",
    oninput: () => playing.look(slider.valueAsNumber - 1 - playing.forgotten),
  });
  const label = h("output", { className: "soft", "data-testid": "step-label" });
  const element = h("div", { className: "time" },
    h("div", { className: "buttons" }, play, button("Step", () => playing.step(), { "data-testid": "step-button" }), button("Reset", () => playing.reset(), { "data-testid": "step-reset" })),
    slider, label);
  return {
    element,
    draw() {
      element.hidden = !playing.hasSteps;
      const { number } = playing.frame;
      const last = playing.forgotten + playing.frames.length;
      play.textContent = playing.playing ? "Pause" : "Play";
      Object.assign(slider, { min: playing.forgotten + 1, max: last, disabled: last < 2 });
      slider.valueAsNumber = number;
      label.textContent = `Step ${count(number)} of ${count(last)}`;
    },
  };
}
