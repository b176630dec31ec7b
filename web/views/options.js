// The export options, as a form made from their JSON Schema.
import { $, field as fieldOf, h, whenChanged } from "./dom.js";

/** In sight; the others are folded, by title. */
const IN_SIGHT = ["dtype", "opset", "sequence"];
const GROUPS = {
  "What the file holds": ["include_metadata", "embed_network", "encoding", "producer_name", "producer_version", "doc_string"],
  "How layers are written": ["mixed_activations", "fold", "quantize", "profile", "batch_dimension", "fused_recurrent"],
  "For NeatapticTS": ["dialect", "lossy", "legacy_node_ordering", "validate_conv_sharing"],
  "What to refuse": ["allow_partial_connectivity", "allow_mixed_activations", "allow_recurrent", "recurrent_single_step"],
  "Convolutions and pools": ["infer_conv", "conv2d_mappings", "pool2d_mappings", "flatten_after_pooling"],
};

/** [title, names] of each group; names that no group has come last. */
function grouped(names) {
  const known = new Set([...IN_SIGHT, ...Object.values(GROUPS).flat()]);
  const rest = names.filter((name) => !known.has(name));
  const groups = Object.entries(GROUPS).map(([title, members]) => [title, members.filter((name) => names.includes(name))]);
  return [...groups, ["Others", rest]].filter(([, members]) => members.length);
}

const OF_MODELS = ["encoding", "dialect"]; // all that a file which is a model already can take

export function options({ again }) {
  const form = $("options");
  let fields = new Map();
  let result = null;

  const hide = () => {
    for (const { name, element } of fields.values()) element.hidden = result?.kind === "model" && !OF_MODELS.includes(name);
    for (const fold of form.querySelectorAll("details")) {
      fold.hidden = [...fold.querySelectorAll(".field")].every((field) => field.hidden);
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const settings = {};
    for (const field of fields.values()) {
      if (!field.element.hidden && !field.check()) return;
      if (!field.element.hidden && field.changed()) settings[field.name] = field.value();
    }
    again(settings);
  });

  const build = whenChanged((state) => state.schema, (schema) => {
    if (!schema) return;
    fields = new Map(Object.entries(schema.properties)
      .filter(([, property]) => !("const" in property)) // nothing to choose yet
      .map(([name, property]) => [name, fieldFor(name, property, schema.$defs ?? {})]));
    form.replaceChildren(...layout(fields));
  });
  const fill = whenChanged((state) => `${state.turns} ${state.schema !== null}`, (_, state) => {
    result = state.result;
    if (!state.made || state.job) return; // the form shows what the result was made with
    fields.forEach((field, name) => field.fill(state.made.settings[name], result?.left_open[name]));
    hide();
  });
  return (state) => {
    build(state);
    fill(state);
    const button = form.querySelector("[type=submit]");
    if (button) button.disabled = !state.made || state.job !== null;
  };
}

function layout(fields) {
  const elements = (names) => names.filter((name) => fields.has(name)).map((name) => fields.get(name).element);
  return [
    h("div", { className: "fields" }, ...elements(IN_SIGHT)),
    ...grouped([...fields.keys()]).map(([title, names]) => h("details", {}, h("summary", {}, title),
      h("div", { className: "fields" }, ...elements(names)))),
    h("div", { className: "buttons" },
      h("button", { type: "submit", className: "button primary", "data-testid": "export-button" }, "Export again"),
      h("button", { type: "reset", className: "button" }, "Defaults")),
  ];
}

/**
 * One option: {name, element, value(), fill(value, own), changed(), check()}.
 * `own` is what the network's ports want of an option that nobody has set.
 */
function fieldFor(name, property, definitions) {
  const plain = resolve(property, definitions);
  const standard = property.default ?? plain.default ?? null;
  let open = standard;
  const value = () => (open === null && read() === "" ? null : read());
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const { input, value: read, put } = control(plain, standard);
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
  const element = fieldOf(words(name), input, forPage(property.description ?? plain.description));
  const fill = (item, own) => {
    open = own === undefined ? standard : own;
    put(item === undefined ? open : item);
  };
  return { name, element, value, fill, check, changed: () => !same(value(), open) };
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
    const put = (item) => { input.selectedIndex = schema.enum.indexOf(item); };
    return { input, put, value: () => schema.enum[input.selectedIndex] };
  }
  if (schema.type === "boolean") {
    const input = h("input", { type: "checkbox", defaultChecked: standard === true });
    return { input, put: (item) => { input.checked = item === true; }, value: () => input.checked };
  }
  if (schema.type === "integer" || schema.type === "number") {
    const input = h("input", {
      type: "number", defaultValue: standard ?? "", min: schema.minimum, max: schema.maximum,
      step: schema.type === "integer" ? 1 : "any",
    });
    return { input, put: plainly(input), value: () => (input.value === "" ? null : input.valueAsNumber) };
  }
  if (schema.type === "string") {
    const input = h("input", { type: "text", defaultValue: standard ?? "", spellcheck: false });
    return { input, put: plainly(input), value: () => (input.value === "" && standard === null ? null : input.value) };
  }
  const written = (item) => (item === null || !item.length ? "" : JSON.stringify(item));
  const input = h("textarea", { rows: 3, spellcheck: false, defaultValue: written(standard) });
  const put = (item) => { input.value = written(item); };
  return { input, put, value: () => (input.value.trim() ? JSON.parse(input.value) : standard) };
}

const plainly = (input) => (item) => { input.value = item ?? ""; };

/** A description without the paths of documents and the words of Python. */
const forPage = (text) => text?.replace(/ ?\([^()]*docs\/[^()]*\)/g, "").replace(/\bnull is\b/g, "empty is");

/** includeMetadata → "Include metadata"; conv2d_mappings → "Conv2d mappings". */
function words(name) {
  const spaced = name.replaceAll("_", " ").replace(/([a-z\d])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`);
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
