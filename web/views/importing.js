// How a model of another tool is imported: which axis is the batch, how long axes of no fixed size are, which
// outputs are meant, and what is memory. By the error where an import was refused, with a way out filled in; else
// below the result.
import { $, field, h, whenChanged } from "./dom.js";

const MOST = 24; // fields of a kind
const BATCHES = [["auto", "Found automatically"], ["none", "No batch"]];

const same = (one, other) => JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
const listed = (axes) => axes.map((size) => size ?? "?").join(", ");
const axesOf = (written) => written.split(",").map((each) => each.trim())
  .map((each) => (/^\d+$/.test(each) ? Number(each) : ["", "?"].includes(each) ? null : each));

/** The inputs and outputs of a model whose import was refused for `reason`; null if it was something else. */
export async function portsOf(engine, { name, load }, { kind }) {
  if (kind !== "ModelError" && kind !== "OptionError") return null;
  const data = await (await load()).arrayBuffer();
  return engine.call("model_ports", { name }, data).then(({ result }) => result, () => null); // it is no model
}

/** What the form is about: a model that was refused, or the result. */
const shown = ({ error, result }) => (error?.ports ? error : result?.model_ports ? result : null);

export function importing({ importAgain }) {
  const form = $("importing");
  const button = h("button", { type: "submit", className: "button primary" }, "Import again");
  let fields = [];
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    importAgain(Object.fromEntries(fields.map((field) => field.said()).filter(([, value]) => value !== null)));
  });
  const fill = whenChanged(shown, (about, { error, wanted, made }) => {
    form.hidden = !about;
    if (!about) return;
    const refused = about === error;
    const known = refused ? { ...wanted.importOptions, ...error.import } : made.importOptions;
    const ports = refused ? about.ports : about.model_ports;
    fields = [batch(known), shapes(ports, known), memory(ports, known), choice(ports, known)];
    form.replaceChildren(
      h("h2", {}, "Import it differently"),
      h("div", { className: "fields" }, ...fields.flatMap(({ elements }) => elements)),
      h("div", { className: "buttons" }, button),
    );
    $(refused ? "import-refused" : "import-result").append(form);
  });
  return (state) => {
    fill(state);
    button.disabled = state.job !== null;
  };
}

const select = (id, choices, known) => h("select", { id }, ...choices.map(([value, label]) => h("option", {
  value, selected: value === known,
}, label)));

function batch({ batch_axis: known = "auto" }) {
  const input = select("import-batch", BATCHES, known);
  const note = "The axis that counts samples. “No batch” takes every axis for features: the network of a single sample.";
  return { elements: [field("Batch", input, note)], said: () => ["batch_axis", input.value === "auto" ? null : input.value] };
}

function shapes({ inputs }, { shapes: known = {} }) {
  const open = inputs.filter(({ axes }) => axes.some((size) => typeof size !== "number")).slice(0, MOST);
  const written = open.map(({ name, axes }, place) => ({
    name, stated: listed(axes), input: h("input", { type: "text", id: `import-axes-${place}`, value: listed(known[name] ?? axes), spellcheck: false }),
  }));
  const said = () => {
    const given = written.filter(({ stated, input }) => input.value.trim() && input.value !== stated);
    return ["shapes", given.length ? Object.fromEntries(given.map(({ name, input }) => [name, axesOf(input.value)])) : null];
  };
  const note = "A number in the place of a name gives the axis that size.";
  return { elements: written.map(({ name, input }) => field(`Axes of ${name}`, input, note)), said };
}

/** Which output is an input's value in the next step; of inputs that outputs have the axes of. */
function memory({ inputs, outputs, memory: found }, { memory: given = null }) {
  const known = given ?? found;
  const fitting = inputs.map(({ name, axes }) => ({
    name, names: outputs.filter((output) => listed(output.axes) === listed(axes)).map((output) => output.name),
  })).filter(({ name, names }) => names.length || name in known).slice(0, outputs.length > 1 ? MOST : 0);
  const fed = fitting.map(({ name, names }, place) => {
    const choices = [...new Set([...names, known[name]].filter(Boolean))].map((each) => [each, each]);
    return { name, input: select(`import-memory-${place}`, [["", "None"], ...choices], known[name] ?? "") };
  });
  const said = () => {
    const pairs = Object.fromEntries(fed.filter(({ input }) => input.value).map(({ name, input }) => [name, input.value]));
    return ["memory", !fed.length || same(pairs, known) ? given : pairs];
  };
  const note = "The output that it has the value of in the next step, if it is memory.";
  return { elements: fed.map(({ name, input }) => field(`Output that feeds ${name}`, input, note)), said };
}

function choice({ outputs, imported }, { outputs: given = null }) {
  const known = given ?? imported;
  const names = [...new Set([...outputs.map(({ name }) => name), ...known])];
  if (names.length < 2 || names.length > MOST) return { elements: [], said: () => ["outputs", given] };
  const boxes = names.map((name, place) => h("input", { type: "checkbox", id: `import-output-${place}`, checked: known.includes(name) }));
  const said = () => {
    const chosen = names.filter((_, place) => boxes[place].checked);
    const unchanged = listed(chosen) === listed(names.filter((name) => known.includes(name)));
    return ["outputs", !chosen.length || unchanged ? given : chosen];
  };
  return { elements: boxes.map((box, place) => field(`Output ${names[place]}`, box)), said };
}
