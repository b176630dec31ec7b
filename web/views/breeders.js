// The choice of a library that the network is written for.
import { $, h, whenChanged } from "./dom.js";

export function breeders({ downloadFor }) {
  const select = h("select", { id: "breeder", "data-testid": "library" });
  const button = h("button", {
    type: "button", className: "button small", "data-testid": "download-library",
    onclick: () => downloadFor(JSON.parse(select.value)),
  }, "Save");
  $("breeders").replaceChildren(h("label", { htmlFor: "breeder" }, "The genome for"), select, button);
  return whenChanged((state) => state.result?.libraries, (libraries) => {
    const before = select.value;
    select.replaceChildren(...(libraries ?? []).map(({ library, title, suffix }) => h("option", {
      value: JSON.stringify({ library, suffix }),
    }, suffix === ".pkl" ? `${title} (pickle and configuration)` : title)));
    if (before) select.value = before;
    $("breeders").hidden = !libraries?.length;
  });
}
