// The question that a network of continuous time raises: in which steps it is to be played.
import { $, h, whenChanged } from "./dom.js";

const FIELDS = [
  ["time_step", "Time step", true, "What one integration step advances the network by."],
  ["advance_time", "Advance time", false,
    "What one step of the ONNX model advances it by, in as many time steps as fit. Empty: one time step."],
];

export function times({ giveTimes }) {
  const inputs = FIELDS.map(([name, , required]) => h("input", {
    type: "number", id: name, name, min: 0, step: "any", required, inputMode: "decimal",
    "aria-describedby": `about-${name}`,
  }));
  const button = h("button", { type: "submit", className: "button primary" }, "Convert");
  const form = $("times");
  form.append(
    h("p", { className: "error-what" }, "How much time is one step?"),
    h("p", { className: "soft" }, "This network lives in continuous time, and its file does not say "
      + "in which steps it was played. Give the times that its library was called with: seconds "
      + "for a ctrnn, milliseconds for a spiking (iznn) network."),
    h("div", { className: "fields" }, ...FIELDS.map(([name, title, , note], index) => h(
      "div", { className: "field" },
      h("label", { htmlFor: name }, title), inputs[index],
      h("p", { id: `about-${name}`, className: "soft" }, note),
    ))),
    h("div", { className: "buttons" }, button),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const times = inputs.map(({ name, value, valueAsNumber }) => [name, value === "" ? null : valueAsNumber]);
    giveTimes(Object.fromEntries(times));
  });

  const clear = whenChanged((state) => state.wanted?.load, () => form.reset());
  const show = whenChanged((state) => Boolean(state.error?.asks === "times" || state.wanted?.times), (asked) => {
    form.hidden = !asked;
    if (asked) inputs[0].focus();
  });
  return (state) => {
    clear(state);
    show(state);
    button.disabled = state.job !== null;
  };
}
