// A population: which of its networks this is, and a way to another one, the best first.
import { $, counted, h, whenChanged } from "./dom.js";

export function members({ pick }) {
  const select = h("select", { id: "member", "data-testid": "genome" });
  select.addEventListener("change", () => pick(Number(select.value)));
  $("members").replaceChildren(h("label", { htmlFor: "member" }, "Genome"), select);
  return whenChanged((state) => state.result, (result) => {
    const found = result?.members ?? [];
    $("members").hidden = !found.length;
    select.replaceChildren(...found.map(({ id, neurons, connections }, place) => h("option", { value: id },
      `${id}${place ? "" : ", the first"}: ${counted(neurons, "neuron")}, ${counted(connections, "connection")}`)));
    if (found.length) select.value = String(result.genome);
  });
}
