// What goes into the network: a slider and a number for each input, or all of them as one text.
import { counted, h } from "./dom.js";

const MOST_FIELDS = 24; // inputs with a slider of their own

const random = () => Math.round((Math.random() * 2 - 1) * 1000) / 1000;

/** The numbers in a text, whatever stands between them: "[0.5, 1e3; -2]" → [0.5, 1000, -2]. */
export function numbersIn(text) {
  const words = text.split(/[^\d.eE+\-]+/).filter((word) => /\d/.test(word)).map(Number);
  return words.every(Number.isFinite) ? words : [];
}

/** {element, draw()} for a Player and the names of its inputs. */
export function inputPanel(playing, names) {
  const fields = names.slice(0, MOST_FIELDS).map((name, place) => field(playing, name, place));
  const all = vector(playing, names.length);
  const button = (text, name, onclick) => h("button", { type: "button", className: "button", "data-testid": name, onclick }, text);
  const element = h("div", {},
    h("div", { className: "sliders" }, ...fields.map(({ element: each }) => each)),
    names.length > MOST_FIELDS
      ? h("p", { className: "soft" }, `and ${counted(names.length - MOST_FIELDS, "input")} more, in the text below.`) : "",
    all.element,
    h("div", { className: "buttons" },
      button("Random inputs", "step-random", () => playing.give(Array.from(names, random))),
      button("Zeros", "step-zeros", () => playing.give(Array.from(names, () => 0)))));
  return { element, draw: () => [...fields, all].forEach((each) => each.draw()) };
}

function field(playing, name, place) {
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
    element: h("div", { className: "slider" }, h("label", { htmlFor: id, className: "clip", title: name }, name), slider, number),
    draw() {
      const value = playing.inputs[place];
      const reach = Math.max(1, Math.abs(value));
      if (reach > slider.max) Object.assign(slider, { min: -reach, max: reach });
      if (document.activeElement !== slider) slider.value = value;
      if (document.activeElement !== number) number.value = value;
    },
  };
}

/** All inputs as one text, to be typed or pasted. */
function vector(playing, size) {
  const message = h("p", { className: "soft", role: "status" });
  const area = h("textarea", {
    rows: 2, spellcheck: false, id: "input-vector", "data-testid": "input-vector",
    oninput: () => {
      const values = numbersIn(area.value);
      message.textContent = values.length === size ? ""
        : `${counted(values.length, "number")} for ${counted(size, "input")}: the others stay as they are.`;
      playing.give(values.slice(0, size));
    },
  });
  return {
    element: h("details", { open: size > MOST_FIELDS }, h("summary", {}, "All inputs as one text"),
      h("div", { className: "field" }, h("label", { htmlFor: "input-vector" }, "Numbers, with anything between them"), area, message)),
    draw() {
      if (document.activeElement !== area) area.value = Array.from(playing.inputs, (value) => +value.toPrecision(6)).join(", ");
    },
  };
}
