// How a model of another tool is imported: which axis is the batch, how long axes of no fixed size are, and
// which outputs are meant. By the error where an import was refused, filled with a way out; else below the result.
import { $, h, whenChanged } from "./dom.js";

const MOST = 24; // fields of a kind
const BATCHES = [["auto", "Found automatically"], ["none", "No batch"]];

const listed = (axes) => axes.map((size) => size ?? "?").join(", ");
const axesOf = (written) => written.split(",").map((each) => each.trim())
  .map((each) => (/^\d+$/.test(each) ? Number(each) : ["", "?"].includes(each) ? null : each));

/** The inputs and outputs of a model whose import was refused for `reason`; null if it was something else. */
export async function portsOf(engine, { name, load }, { kind }) {
  if (kind !== "ModelError" && kind !== "OptionError") return null;
  const data = await (await load()).arrayBuffer();
  return engine.call("model_ports", { name }, data).then(({ result }) => result, () => null);
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
    const known = refused ? { ...wanted.importOptions, ...error.import } : made.importOptions ?? {};
    const { inputs, ...outputs } = refused ? about.ports : about.model_ports;
    fields = [batch(known), shapes(inputs, known), choice(outputs, known)];
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

const field = (label, input, note) => h("div", { className: `field ${input.type}` },
  h("label", { htmlFor: input.id }, label), input, note && h("p", { className: "soft" }, note));

function batch({ batch_axis: known = "auto" }) {
  const input = h("select", { id: "import-batch" }, ...BATCHES.map(([value, label]) => h("option", {
    value, selected: value === known,
  }, label)));
  const note = "The axis that counts samples. “No batch” takes every axis for features: the network of a single sample.";
  return { elements: [field("Batch", input, note)], said: () => ["batch_axis", input.value === "auto" ? null : input.value] };
}

function shapes(inputs, { shapes: known = {} }) {
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

function choice({ outputs, imported }, { outputs: known = imported }) {
  const names = [...new Set([...outputs, ...known])];
  if (names.length < 2 || names.length > MOST) return { elements: [], said: () => ["outputs", null] };
  const boxes = names.map((name, place) => h("input", { type: "checkbox", id: `import-output-${place}`, checked: known.includes(name) }));
  const said = () => {
    const chosen = names.filter((_, place) => boxes[place].checked);
    return ["outputs", !chosen.length || listed(chosen) === listed(imported) ? null : chosen];
  };
  return { elements: boxes.map((box, place) => field(`Output ${names[place]}`, box)), said };
}
