// One neuron: its activation's curve with the present point, what comes in, and what goes out.
import { $, h, svg, whenChanged } from "./dom.js";
import { soon } from "./soon.js";
import { facts } from "./summary.js";

const [WIDTH, HEIGHT] = [240, 120];
const POINTS = 121;
const MOST_ROWS = 40;

const show = (value) => (Number.isFinite(value) ? String(+value.toPrecision(4)) : String(value));

export function neuron({ select }) {
  let quiet = () => {};
  return whenChanged((state) => (state.drawn?.graph ? `${state.selected} ${state.turns} ${Boolean(state.player)}` : ""),
    (_, { drawn, selected, player }) => {
      quiet();
      const shown = Boolean(drawn?.graph) && selected >= 0;
      $("neuron").hidden = !shown;
      if (!shown) return;
      const draw = soon(() => $("neuron").replaceChildren(...describe(drawn.graph, selected, player, select)));
      quiet = player?.listen(draw) ?? (() => {});
      draw();
    });
}

function describe({ neurons, connections }, place, player, select) {
  const { id, name, kind, activation, aggregation, bias, response } = neurons[place];
  const label = (other) => neurons[other].name || String(neurons[other].id);
  const value = player?.frame.activations[place];
  const z = player?.evaluator.preactivation(place);
  const rows = [
    ["Kind", kind],
    kind !== "input" && ["Activation", activation],
    kind !== "input" && ["Aggregation", aggregation],
    kind !== "input" && ["Bias", show(bias)],
    kind !== "input" && ["Response", show(response)],
    player && kind !== "input" && ["Pre-activation now", show(z)],
    player && ["Activation now", show(value)],
  ].filter(Boolean);
  const into = connections.filter(({ target }) => target === place);
  const from = connections.filter(({ source }) => source === place);
  return [
    h("div", { className: "neuron-head" }, h("h3", {}, `Neuron ${name ? `${name} (${id})` : id}`),
      h("button", { type: "button", className: "button small", onclick: () => select(-1) }, "Close")),
    h("div", { className: "neuron-body" },
      h("div", {}, facts(rows), kind === "input" || !player ? "" : curve(player, place, z)),
      table("In", into, "source", label, player), table("Out", from, "target", label, player)),
  ];
}

function table(title, genes, end, label, player) {
  const rows = genes.slice(0, MOST_ROWS).map((gene) => h("tr", {},
    h("th", { scope: "row" }, h("span", { className: "clip" }, label(gene[end]))),
    h("td", {}, show(gene.weight)),
    h("td", {}, gene.enabled ? (player ? show(player.flow(gene.edge)) : "") : "disabled"),
    h("td", {}, gene.delay ? `${gene.delay} ago` : "")));
  const head = [title === "In" ? "From" : "To", "Weight", "Carries", "Delay"];
  return h("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: title === "In" ? "Connections in" : "Connections out" },
    genes.length
      ? h("table", {}, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...rows))
      : h("p", { className: "soft" }, title === "In" ? "Nothing comes in." : "Nothing goes out."),
    genes.length > MOST_ROWS ? h("p", { className: "soft" }, `and ${genes.length - MOST_ROWS} more`) : "");
}

function curve({ evaluator }, place, z) {
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
