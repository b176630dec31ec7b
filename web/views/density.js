// A network of many neurons: its layers as columns, and how densely each is wired to each.
import { count, counted, h, svg } from "./dom.js";
import { family, TITLES } from "./palette.js";

const [WIDTH, HEIGHT, TOP] = [960, 340, 26];
const MOST_BUNDLES = 200; // the heaviest

/** @param layers [{neurons, activations: {name: count}}]; bundles [{source, target, count, mean}] */
export function density({ layers, bundles }) {
  const tallest = Math.max(...layers.map(({ neurons }) => neurons));
  const gap = WIDTH / layers.length;
  const bars = layers.map(({ neurons, activations }, place) => {
    const height = Math.max(6, Math.sqrt(neurons / tallest) * (HEIGHT - 2 * TOP));
    return { x: gap * (place + 0.5), width: Math.min(28, gap * 0.5), height, neurons, activations };
  });
  const most = Math.max(1, ...bundles.map((bundle) => bundle.count));
  const paths = [...bundles].sort((a, b) => b.count - a.count).slice(0, MOST_BUNDLES)
    .map((bundle) => ribbon(bars[bundle.source], bars[bundle.target], bundle, most));
  const said = layers.map(({ neurons }, place) => `layer ${place}: ${count(neurons)}`).join(", ");
  const drawing = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "density", role: "img",
    "aria-label": `Layers of the network, from inputs to outputs. ${said}`, "data-testid": "graph",
  }, ...paths, ...bars.map(column));
  return h("figure", {}, drawing, key(layers));
}

function ribbon(from, to, { count: number, mean, source, target }, most) {
  const [x1, x2, y] = [from.x + from.width / 2, to.x - to.width / 2, HEIGHT / 2];
  const bow = target > source + 1 ? -(target - source) * 14 : target <= source ? 80 : 0;
  const path = svg("path", {
    d: `M${x1},${y} C${x1 + 30},${y + bow} ${x2 - 30},${y + bow} ${x2},${y}`,
    class: mean < 0 ? "bundle negative" : "bundle positive",
    "stroke-width": (1.5 + 26 * Math.sqrt(number / most)).toFixed(1),
  }, svg("title", {}, `layer ${source} to layer ${target}: ${counted(number, "connection")}, mean weight ${mean.toPrecision(2)}`));
  return path;
}

function column({ x, width, height, neurons, activations }) {
  let y = (HEIGHT - height) / 2;
  const parts = Object.entries(activations).map(([name, number]) => {
    const size = (height * number) / neurons;
    const part = svg("rect", {
      x: x - width / 2, y, width, height: size, class: `fill-${name === "input" ? "input" : family(name)}`,
    }, svg("title", {}, `${name === "input" ? "input" : TITLES[family(name)]}: ${count(number)}`));
    y += size;
    return part;
  });
  const text = svg("text", { x, y: (HEIGHT + height) / 2 + 18, "text-anchor": "middle" }, count(neurons));
  return svg("g", {}, ...parts, text);
}

function key(layers) {
  const names = [...new Set(layers.flatMap(({ activations }) => Object.keys(activations)
    .map((name) => (name === "input" ? "input" : family(name)))))];
  return h("ul", { className: "legend" }, ...names.map((name) => h("li", {},
    h("span", { className: `swatch tint-${name}`, ariaHidden: "true" }), name === "input" ? "input" : TITLES[name])),
    h("li", {}, h("span", { className: "stroke positive", ariaHidden: "true" }), "positive mean weight"),
    h("li", {}, h("span", { className: "stroke negative", ariaHidden: "true" }), "negative mean weight"),
    h("li", {}, "wider: more connections"));
}
