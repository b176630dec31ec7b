// Small helpers that every view uses.

export const $ = (id) => document.getElementById(id);

/** An element: h("p", {className: "note", "data-testid": "x"}, "text", child, …). */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A small button: button("Undo", () => …, {title: "…"}). */
export const button = (text, onclick, properties = {}) => h("button", { type: "button", className: "button small", onclick, ...properties }, text);

/** A field of a form, with its label and a note on it. */
export function field(label, input, note = "") {
  const about = note && h("p", { id: `about-${input.id}`, className: "soft" }, note);
  if (about) input.setAttribute("aria-describedby", about.id);
  return h("div", { className: input.type === "checkbox" ? "field checkbox" : "field" }, h("label", { htmlFor: input.id }, label), input, about);
}

/** An element of a drawing: svg("path", {d: "…"}, child, …). */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A view that draws only when what it looks at has changed. */
export function whenChanged(look, draw) {
  let before = {};
  return (state) => {
    const now = look(state);
    if (Object.is(now, before)) return;
    before = now;
    draw(now, state);
  };
}

/** A fold that asks for its content when it is opened: `show` makes elements of what `ask` gives. */
export function fold(name, title, waiting, ask, show) {
  const body = h("div", {}, h("p", { className: "soft", role: "status" }, waiting));
  const details = h("details", { "data-testid": name }, h("summary", {}, title), body);
  details.addEventListener("toggle", async () => {
    const found = await ask();
    if (body.isConnected) body.replaceChildren(...(found.failed ? [h("p", { className: "warning" }, `It could not be shown: ${found.failed}.`)] : show(found)));
  }, { once: true });
  return details;
}

/** Call `draw` at the next frame, once however often it was asked for. */
export function soon(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
}

/** 1234567 → "1,234,567". */
export const count = (number) => number.toLocaleString("en");

/** A count with its noun: "1 input", "3 inputs". */
export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** A measured number, short and readable by a program too: 3.1e-15, 0.25, 0. */
export function short(number) {
  if (typeof number !== "number") return "not finite"; // null: there was a NaN or an infinity
  if (number === 0) return "0";
  const size = Math.abs(number);
  return size < 1e-3 || size >= 1e6 ? number.toExponential(1) : String(+number.toPrecision(3));
}

/** 6.9e-6 → "0.0000069"; what would be too long stays short. */
export function plain(number) {
  return number >= 1e-9 && number < 1e6 ? number.toLocaleString("en", { maximumSignificantDigits: 2 }) : short(number);
}

export function bytes(size) {
  if (size < 1000) return `${size} B`;
  return size < 1e6 ? `${(size / 1e3).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

/** A text as a sentence: a capital at its beginning, unless a field's name stands there, and a full stop at its end. */
export function sentence(text) {
  const isName = /^\w+(_|[A-Z]|\[)/.test(text);
  const begin = isName ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begin) ? begin : `${begin}.`;
}
