// Programs that run this very model, one tab a language, to be copied.
import { $, h, whenChanged } from "./dom.js";

export function run({ notify }) {
  let chosen = 0;
  const draw = (snippets) => {
    const tabs = snippets.map(({ title }, place) => h("button", {
      type: "button", role: "tab", id: `run-tab-${place}`, "aria-selected": String(place === chosen),
      "aria-controls": "run-panel", tabIndex: place === chosen ? 0 : -1, className: "button small",
      onclick: () => show(place),
    }, title));
    const show = (place) => {
      chosen = (place + snippets.length) % snippets.length;
      draw(snippets);
      $(`run-tab-${chosen}`).focus();
    };
    const list = h("div", { role: "tablist", ariaLabel: "Languages", className: "tabs" }, ...tabs);
    list.addEventListener("keydown", ({ key }) => {
      if (key === "ArrowRight" || key === "ArrowLeft") show(chosen + (key === "ArrowRight" ? 1 : -1));
    });
    const { text } = snippets[chosen];
    const copy = h("button", {
      type: "button", className: "button small", "data-testid": "copy-program",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(text);
          copy.textContent = "Copied";
        } catch {
          notify("The browser did not allow copying: select the text instead.");
        }
      },
    }, "Copy");
    $("run").replaceChildren(h("div", { className: "buttons" }, list, copy),
      h("pre", { id: "run-panel", role: "tabpanel", tabIndex: 0, "aria-labelledby": `run-tab-${chosen}`, "data-testid": "program" },
        h("code", {}, text)));
  };
  return whenChanged((state) => state.result, (result) => { if (result) draw(result.snippets); });
}
