// Programs that run this very model, in several languages, to be copied.
import { $, button, fold, h, whenChanged } from "./dom.js";

export const run = ({ notify, programs }) => whenChanged((state) => state.result, (result) => {
  if (result) $("run").replaceChildren(fold("programs", "Run it", "Writing programs…", programs, (found) => shown(found.programs, notify)));
});

function shown(programs, notify) {
  const text = h("code");
  const show = () => {
    text.textContent = programs[chosen.selectedIndex].text;
    copy.textContent = "Copy";
  };
  const chosen = h("select", { ariaLabel: "Language", "data-testid": "language", onchange: show },
    ...programs.map(({ title }) => h("option", {}, title)));
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      copy.textContent = "Copied";
    } catch {
      notify("The browser did not allow copying: select the text instead.");
    }
  }, { "data-testid": "copy-program" });
  show();
  return [h("p", { className: "choice" }, chosen, copy), h("pre", { tabIndex: 0, "data-testid": "program" }, text)];
}
