// The export options, as a form made from their JSON Schema.
import { $, h, whenChanged } from "./dom.js";

export function options({ again }) {
  const form = $("options");
  let fields = [];
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const settings = {};
    for (const field of fields) {
      if (!field.check()) return;
      if (field.changed()) settings[field.name] = field.value();
    }
    again(settings);
  });
  const build = whenChanged((state) => state.schema, (schema) => {
    if (!schema) return;
    fields = Object.entries(schema.properties)
      .filter(([, property]) => !("const" in property)) // nothing to choose yet
      .map(([name, property]) => fieldFor(name, property, schema.$defs ?? {}));
    const simple = fields.filter((field) => !field.list);
    const lists = fields.filter((field) => field.list);
    form.replaceChildren(
      h("div", { className: "fields" }, ...simple.map((field) => field.element)),
      lists.length ? h("details", {}, h("summary", {}, "Layers with a shape of their own"),
        h("div", { className: "fields wide" }, ...lists.map((field) => field.element))) : "",
      h("div", { className: "buttons" },
        h("button", { type: "submit", className: "button primary", "data-testid": "export-button" }, "Export again"),
        h("button", { type: "reset", className: "button" }, "Defaults")),
    );
  });
  return (state) => {
    build(state);
    const button = form.querySelector("[type=submit]");
    if (button) button.disabled = !state.file || state.job !== null;
  };
}

/** One option: {name, element, list, value(), changed(), check()}. */
function fieldFor(name, property, definitions) {
  const plain = resolve(property, definitions);
  const standard = property.default ?? plain.default ?? null;
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const { input, value, list = false } = control(plain, standard);
  input.id = `option-${name}`;
  input.name = name;
  const check = () => {
    input.setCustomValidity?.("");
    try {
      value();
    } catch (error) {
      input.setCustomValidity(error.message);
      const folded = input.closest("details");
      if (folded) folded.open = true;
    }
    return input.reportValidity();
  };
  input.addEventListener("input", () => input.setCustomValidity(""));
  const note = property.description ?? plain.description;
  if (note) input.setAttribute("aria-describedby", `about-${name}`);
  const element = h("div", { className: `field ${input.type}` },
    h("label", { htmlFor: input.id }, words(name)), input,
    note ? h("p", { id: `about-${name}`, className: "soft" }, note) : null);
  return { name, element, list, value, check, changed: () => !same(value(), standard) };
}

/** The branch of a schema that fits its default: through $ref, and past null in anyOf. */
function resolve(schema, definitions) {
  const named = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (named) return resolve(definitions[named.split("/").at(-1)] ?? {}, definitions);
  const branch = schema.anyOf?.find((item) => item.type === typeof schema.default)
    ?? schema.anyOf?.find((item) => item.type !== "null");
  return branch ? resolve(branch, definitions) : schema;
}

function control(schema, standard) {
  if (schema.enum) {
    const input = h("select", {}, ...schema.enum.map((item) => h("option", {
      value: item, defaultSelected: item === standard, selected: item === standard,
    }, String(item))));
    return { input, value: () => schema.enum[input.selectedIndex] };
  }
  if (schema.type === "boolean") {
    const input = h("input", { type: "checkbox", defaultChecked: standard === true });
    return { input, value: () => input.checked };
  }
  if (schema.type === "integer" || schema.type === "number") {
    const input = h("input", {
      type: "number", defaultValue: standard ?? "", min: schema.minimum, max: schema.maximum,
      step: schema.type === "integer" ? 1 : "any",
    });
    return { input, value: () => (input.value === "" ? null : input.valueAsNumber) };
  }
  if (schema.type === "string") {
    const input = h("input", { type: "text", defaultValue: standard ?? "", spellcheck: false });
    return { input, value: () => (input.value === "" && standard === null ? null : input.value) };
  }
  const input = h("textarea", {
    rows: 3, spellcheck: false, defaultValue: standard === null ? "" : JSON.stringify(standard),
  });
  return { input, list: true, value: () => (input.value.trim() ? JSON.parse(input.value) : standard) };
}

/** includeMetadata → "Include metadata"; conv2d_mappings → "Conv2d mappings". */
function words(name) {
  const spaced = name.replaceAll("_", " ").replace(/([a-z\d])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`);
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
