// A choice of files that are written when asked for: a list, and a button that saves.
import { $, h, whenChanged } from "./dom.js";

/** A view of the choices that `look` finds in the state: [{title, suffix, …}], saved by `method`. */
export function choice({ method, label, look }, { downloadFor }) {
  const select = h("select", { id: `${method}-choice`, "data-testid": method });
  const button = h("button", {
    type: "button", className: "button small", "data-testid": `download-${method}`,
    onclick: () => downloadFor({ method, ...JSON.parse(select.value) }),
  }, "Save");
  const place = $(`${method}-place`);
  place.replaceChildren(h("label", { htmlFor: select.id }, label), select, button);
  return whenChanged(look, (choices) => {
    const before = select.value;
    select.replaceChildren(...(choices ?? []).map(({ title, ...asked }) => h("option", {
      value: JSON.stringify(asked),
    }, title)));
    if ([...select.options].some((option) => option.value === before)) select.value = before;
    place.hidden = !choices?.length;
  });
}
