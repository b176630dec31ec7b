// Programs that run this very model, in several languages, to be copied.
import { $, button, h, whenChanged } from "./dom.js";

export function run({ notify }) {
  const text = h("code");
  const chosen = h("select", { ariaLabel: "Language", "data-testid": "language" });
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      copy.textContent = "Copied";
    } catch {
      notify("The browser did not allow copying: select the text instead.");
    }
  }, { "data-testid": "copy-program" });
  $("run").append(h("p", { className: "choice" }, chosen, copy), h("pre", { tabIndex: 0, "data-testid": "program" }, text));
  return whenChanged((state) => state.result, (result) => {
    if (!result) return;
    const show = () => {
      text.textContent = result.snippets[chosen.selectedIndex].text;
      copy.textContent = "Copy";
    };
    const before = Math.max(0, chosen.selectedIndex);
    chosen.replaceChildren(...result.snippets.map(({ title }) => h("option", {}, title)));
    chosen.selectedIndex = before;
    chosen.onchange = show;
    show();
  });
}
