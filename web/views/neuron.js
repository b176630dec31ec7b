// One neuron: its activation's curve with the present point, its genes, which can be changed, and its connections.
import { $, button, counted, h, soon, svg, whenChanged } from "./dom.js";
import { facts } from "./summary.js";

const [WIDTH, HEIGHT] = [240, 110];
const POINTS = 121;
const MOST_ROWS = 40;
const MANY = 300; // neurons, of which one may want to see those near one alone

const show = (value) => (Number.isFinite(value) ? String(+value.toPrecision(4)) : String(value));

export function neuron(actions) {
  let quiet = () => {};
  return whenChanged((state) => (state.drawn?.graph ? `${state.selected} ${state.turns} ${Boolean(state.player)}` : ""),
    (_, { drawn, selected, player, result }) => {
      quiet();
      const shown = Boolean(drawn?.graph) && selected >= 0 && selected < drawn.graph.neurons.length;
      $("neuron").hidden = !shown;
      if (!shown) return;
      const parts = describe(drawn.graph, selected, player, result, actions);
      const focused = document.activeElement?.dataset.testid;
      $("neuron").replaceChildren(...parts.elements);
      if (focused?.startsWith("edit-")) $("neuron").querySelector(`[data-testid="${focused}"]`)?.focus();
      else $("inspector").scrollTop = 0;
      const draw = soon(parts.draw);
      quiet = player?.listen(draw) ?? (() => {});
      draw();
    });
}

function describe({ neurons, connections }, shown, player, { activations = [], summary }, actions) {
  const { place, id, name, kind, activation, aggregation, bias, response, idle } = neurons[shown];
  const isInput = kind === "input";
  const change = (gene, value) => actions.edit({ neuron: shown, [gene]: value });
  const into = connections.map((gene, index) => ({ ...gene, index })).filter(({ target }) => target === shown);
  const from = connections.map((gene, index) => ({ ...gene, index })).filter(({ source }) => source === shown);
  const gated = connections.map((gene, index) => ({ ...gene, index })).filter(({ gater }) => gater === shown);
  const [now, curve] = [h("div"), h("div")];
  const cells = []; // {gene, element} of values that change
  const genes = isInput ? [] : [
    ["Activation", h("select", { ariaLabel: "Activation", "data-testid": "edit-activation", onchange: ({ target }) => change("activation", target.value) },
      ...[...new Set([activation, ...activations])].map((each) => h("option", { selected: each === activation }, each)))],
    ["Aggregation", aggregation],
    ["Bias", numberOf("Bias", "edit-bias", bias, (value) => change("bias", value), (value) => actions.tune({ neuron: place, bias: value }))],
    ["Response", numberOf("Response", "edit-response", response, (value) => change("response", value))],
  ];
  const label = (other) => neurons[other].label;
  const table = (title, list, end) => tableOf({ title, list, end, label, cells, actions, player });
  return {
    elements: [
      h("div", { className: "neuron-head" }, h("h2", {}, `Neuron ${name ? `${name} (${id})` : id}`),
        button("Close", () => actions.select(-1))),
      h("p", { className: "soft" }, `${kind}${idle ? "; reaches no output" : ""}${gated.length ? `; gates ${counted(gated.length, "connection")}` : ""}`),
      isInput ? "" : facts(genes), now, curve,
      table("In", into, "source"), table("Out", from, "target"), gated.length ? table("Gates", gated, "target") : "",
      h("div", { className: "buttons" },
        isInput ? "" : button("Prune", () => change("pruned", true), { "data-testid": "prune", title: "Disable all of its connections" }),
        summary.neurons > MANY ? button("Show what is near it", () => actions.look({ around: id }), { "data-testid": "near-it" }) : ""),
    ],
    draw() {
      if (!player) return;
      const z = player.evaluator.preactivation(place);
      now.replaceChildren(facts([...(isInput ? [] : [["Pre-activation now", show(z)]]), ["Activation now", show(player.frame.activations[place])]]));
      if (!isInput) curve.replaceChildren(curveOf(player, place, z));
      for (const { gene, element } of cells) element.textContent = gene.enabled ? show(player.flow(gene.edge)) : "";
    },
  };
}

/** A number that can be changed: at once where it is played with, and for good when it is left. */
function numberOf(name, id, value, done, tune = null) {
  const input = h("input", { type: "number", step: "any", value: String(value), ariaLabel: name, "data-testid": id, className: "gene" });
  input.addEventListener("input", () => Number.isFinite(input.valueAsNumber) && tune?.(input.valueAsNumber));
  input.addEventListener("change", () => Number.isFinite(input.valueAsNumber) && input.valueAsNumber !== value && done(input.valueAsNumber));
  return input;
}

function tableOf({ title, list, end, label, cells, actions, player }) {
  const rows = list.slice(0, MOST_ROWS).map((gene) => {
    const carries = h("td");
    cells.push({ gene, element: carries });
    const delay = gene.delay ? `, ${gene.delay} ago` : "";
    return h("tr", {}, h("th", { scope: "row" }, h("span", { className: "clip" }, label(gene[end])), delay),
      h("td", {}, numberOf(`Weight, ${title} ${label(gene[end])}`, `edit-weight-${gene.index}`, gene.weight,
        (weight) => actions.edit({ connection: gene.index, weight }), (weight) => actions.tune({ edge: gene.edge, weight }))),
      ...(player ? [carries] : []),
      h("td", {}, h("input", { type: "checkbox", checked: gene.enabled, ariaLabel: `Enabled, ${title} ${label(gene[end])}`, title: "Enabled",
        onchange: ({ target }) => actions.edit({ connection: gene.index, enabled: target.checked }) })));
  });
  const empty = { In: "Nothing comes in.", Out: "Nothing goes out." }[title];
  if (!list.length) return h("p", { className: "soft" }, empty);
  const head = [{ In: "From", Out: "To", Gates: "Gates into" }[title], "Weight", ...(player ? ["Carries"] : []), "On"];
  return h("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: `Connections: ${title}` },
    h("table", {}, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...rows)),
    list.length > MOST_ROWS ? h("p", { className: "soft" }, `and ${list.length - MOST_ROWS} more`) : "");
}

function curveOf({ evaluator }, place, z) {
  const f = evaluator.functions[evaluator.activation[place]];
  const reach = Math.max(4, Number.isFinite(z) ? Math.min(Math.abs(z) * 1.2, 1e6) : 4);
  const points = Array.from({ length: POINTS }, (_, index) => (index / (POINTS - 1)) * 2 * reach - reach)
    .map((x) => [x, f(x)]).filter(([, y]) => Number.isFinite(y));
  const [low, high] = [Math.min(...points.map(([, y]) => y)), Math.max(...points.map(([, y]) => y))];
  const x = (value) => ((value + reach) / (2 * reach)) * WIDTH;
  const y = (value) => HEIGHT - 8 - ((value - low) / (high - low || 1)) * (HEIGHT - 16);
  const line = points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
  const at = Number.isFinite(z) && Number.isFinite(f(z)) ? [svg("circle", { cx: x(z), cy: y(f(z)), r: 4 })] : [];
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve", role: "img",
    "aria-label": `The activation from ${show(-reach)} to ${show(reach)}; now at ${show(z)}` },
  svg("line", { x1: x(0), x2: x(0), y1: 0, y2: HEIGHT }),
  ...(low <= 0 && high >= 0 ? [svg("line", { x1: 0, x2: WIDTH, y1: y(0), y2: y(0) })] : []),
  svg("polyline", { points: line }), ...at);
}
