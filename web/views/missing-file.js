// A genome that came without its configuration, or the reverse: what the page still needs.
import { $, h, whenChanged } from "./dom.js";

const SAID = {
  configuration: ["This is a genome of neat-python. Its configuration is needed, too.",
    "How many inputs and outputs it has, and whether it remembers, stands in the configuration file alone, such as "
    + "config-feedforward. Drop it here, or choose it; next time you can drop both at once."],
  genome: ["This is a configuration of neat-python.",
    "Now drop a genome that belongs to it, such as winner.pkl, or choose it; both can be dropped at once, too."],
};

export function missingFile() {
  return whenChanged((state) => state.error, (error) => {
    const said = SAID[error?.asks];
    $("missing-file").hidden = !said;
    if (!said) return;
    const [title, text] = said;
    const button = h("button", { type: "button", className: "button primary", onclick: () => $("file").click() },
      error.asks === "genome" ? "Choose the genome" : "Choose the configuration");
    $("missing-file").replaceChildren(
      h("p", { className: "error-file" }, error.name), h("p", { className: "error-what" }, title),
      h("p", { className: "soft" }, text), h("div", { className: "buttons" }, button),
    );
    button.focus({ preventScroll: true });
  });
}
