// What is wrong, where, and what to do: about a file, or about the engine itself; or which file is missing yet.
import { $, button, h, sentence, whenChanged } from "./dom.js";

export function error({ restart, dismiss }) {
  let [shown, broken] = [null, null];
  return (state) => {
    if (state.error === shown && state.failure === broken) return;
    [shown, broken] = [state.error, state.failure];
    const box = $("error");
    const answered = (state.wanted?.facts?.[shown?.where] ?? null) !== null; // and that is what is wrong
    const asked = shown?.asks && !answered; // a question, for which there is a form
    box.hidden = (!shown || asked) && !broken;
    if (broken) box.replaceChildren(...failure(broken, restart));
    else if (shown && !asked) box.replaceChildren(...problem(shown, state.made), h("div", { className: "buttons" }, button("Close", dismiss)));
    else box.replaceChildren();
    if (!box.hidden) box.focus({ preventScroll: true });
  };
}

const labelled = (label, ...inside) => h("p", {}, h("span", { className: "label" }, label), ...inside);

function problem({ name, kind, message, where, hint, obstacles }, made) {
  return [
    h("p", { className: "error-file" }, name),
    h("p", { className: "error-what" }, sentence(message)),
    where && labelled("Where", h("code", {}, where)),
    obstacles.length && h("ul", { tabIndex: 0 }, ...obstacles.map((each) => h("li", {}, sentence(each)))),
    hint && labelled("What to do", sentence(hint)),
    kind === "InternalError" && h("p", { className: "label" }, kind),
    made && h("p", { className: "soft" }, `You still see ${made.name}, as it was before.`),
  ].filter(Boolean);
}

function failure(message, restart) {
  return [
    h("p", { className: "error-what" }, "Python could not be started in this browser."),
    labelled("Why", sentence(message)),
    labelled("What to do", "Try again; if it stays so, see whether a setting or an extension blocks WebAssembly."),
    button("Try again", restart, { className: "button" }),
  ];
}

const MISSING = {
  configuration: ["This is a genome of neat-python. Its configuration is needed, too.",
    "How many inputs and outputs it has, and whether it remembers, stands in the configuration file alone, such as "
    + "config-feedforward. Drop it here, or choose it; next time you can drop both at once."],
  genome: ["This is a configuration of neat-python.",
    "Now drop a genome that belongs to it, such as winner.pkl, or choose it; both can be dropped at once, too."],
};

/** A genome that came without its configuration, or the reverse: what the page still needs. */
export function missingFile() {
  return whenChanged((state) => state.error, (found) => {
    const said = MISSING[found?.asks];
    $("missing-file").hidden = !said;
    if (!said) return;
    const choose = button(`Choose the ${found.asks}`, () => $("file").click(), { className: "button primary" });
    $("missing-file").replaceChildren(h("p", { className: "error-file" }, found.name), h("p", { className: "error-what" }, said[0]),
      h("p", { className: "soft" }, said[1]), h("div", { className: "buttons" }, choose));
    choose.focus({ preventScroll: true });
  });
}
