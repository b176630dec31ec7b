// What is wrong, where, and what to do: about a file, or about the engine itself.
import { $, h, sentence } from "./dom.js";

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
    else if (shown && !asked) box.replaceChildren(...problem(shown, state.made), close(dismiss));
    else box.replaceChildren();
    if (box.hidden) return;
    box.focus({ preventScroll: true });
  };
}

const close = (dismiss) => h("div", { className: "buttons" }, h("button", { type: "button", className: "button small", onclick: dismiss }, "Close"));

function problem({ name, kind, message, where, hint, obstacles }, made) {
  return [
    h("p", { className: "error-file" }, name),
    h("p", { className: "error-what" }, sentence(message)),
    where && h("p", {}, h("span", { className: "label" }, "Where"), h("code", {}, where)),
    obstacles.length && h("ul", { tabIndex: 0 }, ...obstacles.map((each) => h("li", {}, sentence(each)))),
    hint && h("p", {}, h("span", { className: "label" }, "What to do"), sentence(hint)),
    kind === "InternalError" && h("p", { className: "label" }, kind),
    made && h("p", { className: "soft" }, `You still see ${made.name}, as it was before.`),
  ].filter(Boolean);
}

function failure(message, restart) {
  return [
    h("p", { className: "error-what" }, "Python could not be started in this browser."),
    h("p", {}, h("span", { className: "label" }, "Why"), sentence(message)),
    h("p", {}, h("span", { className: "label" }, "What to do"),
      "Try again; if it stays so, see whether a setting or an extension blocks WebAssembly."),
    h("button", { type: "button", className: "button", onclick: restart }, "Try again"),
  ];
}
