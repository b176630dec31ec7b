// What a file does not say and its library was called with: the times of a network of continuous
// time, the updates in a step of one with cycles, the inputs and outputs of one of TensorNEAT.
import { $, field, h, whenChanged } from "./dom.js";

const CYCLES = ["cycles", "Updates in a step", "How many times all nodes are updated for each set of inputs."];
const QUESTIONS = {
  times: {
    title: "How much time is one step?",
    why: "This network lives in continuous time, and its file does not say in which steps it was played. Give the "
      + "times that its library was called with: seconds for a ctrnn, milliseconds for a spiking (iznn) network.",
    fields: [
      ["time_step", "Time step", "What one integration step advances the network by."],
      ["advance_time", "Advance time",
        "What one step of the ONNX model advances it by, in as many time steps as fit. Empty: one time step."],
    ],
  },
  cycles: {
    title: "How often is it updated in a step?",
    why: "This network has cycles, and its file does not say how often its library updates it for each set of inputs.",
    fields: [CYCLES],
  },
  size: {
    title: "How many inputs and outputs has it?",
    why: "The first nodes of this file are the inputs, the next the outputs; it does not say how many.",
    fields: [
      ["inputs", "Inputs", "How many values go in."],
      ["outputs", "Outputs", "How many come out."],
      [CYCLES[0], CYCLES[1], `${CYCLES[2]} Empty: it has no cycles.`],
    ],
  },
};
const TIMES = new Set(["time_step", "advance_time"]); // any positive number; the others count

const ofField = (field) => Object.keys(QUESTIONS)
  .find((name) => QUESTIONS[name].fields.some(([known]) => known === field)) ?? null;

/** Which question an error raises: "times", "cycles", "size" or null. */
export const questionOf = ({ kind, where }) => (kind === "OptionError" ? ofField(where) : null);

/** The question that is asked, or that was answered for the result. */
function asked({ error, wanted }) {
  const [answered] = Object.keys(wanted?.facts ?? {});
  return error?.asks in QUESTIONS ? error.asks : ofField(answered);
}

export function facts({ giveFacts }) {
  const form = $("facts");
  const button = h("button", { type: "submit", className: "button primary" }, "Convert");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const inputs = [...form.querySelectorAll("input")];
    giveFacts(Object.fromEntries(inputs.map(({ name, value, valueAsNumber }) => [name, value === "" ? null : valueAsNumber])));
  });
  const clear = whenChanged((state) => state.wanted?.load, () => form.reset());
  const show = whenChanged(asked, (name, { wanted }) => {
    form.hidden = !name;
    if (!name) return;
    form.replaceChildren(...contents(QUESTIONS[name], wanted?.facts ?? {}), h("div", { className: "buttons" }, button));
  });
  const move = whenChanged((state) => Boolean(state.error?.asks in QUESTIONS || (state.error && asked(state))), (asking) => {
    $(asking ? "facts-asked" : "facts-answered").append(form);
    if (asking) form.querySelector("input")?.focus();
  });
  return (state) => {
    clear(state);
    show(state);
    move(state);
    button.disabled = state.job !== null;
  };
}

function contents({ title, why, fields }, known) {
  return [
    h("p", { className: "error-what" }, title),
    h("p", { className: "soft" }, why),
    h("div", { className: "fields" }, ...fields.map(([name, label, note], place) => field(label, h("input", {
      type: "number", id: name, name, value: known[name] ?? "", required: place === 0 || name === "outputs",
      ...(TIMES.has(name) ? { min: 0, step: "any", inputMode: "decimal" } : { min: 1, step: 1, inputMode: "numeric" }),
    }), note))),
  ];
}
