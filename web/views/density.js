// A network of many neurons: its layers as columns, by name, and how densely each is wired to each.
import { count, counted, h, svg } from "./dom.js";
import { family, TITLES } from "./palette.js";

const [WIDTH, HEIGHT, TOP] = [960, 380, 46];
const LETTER = 6.6; // px, about
const MOST_BUNDLES = 200; // the heaviest

/**
 * @param layers [{neurons, activations: {name: count}, label, shape, unit}], as neat_onnx/page/density.py says
 * @param bundles [{source, target, count, mean}]
 */
export function density({ layers, bundles }) {
  const tallest = Math.max(...layers.map(({ neurons }) => neurons));
  const gap = WIDTH / layers.length;
  const bars = layers.map((layer, place) => {
    const height = Math.max(6, Math.sqrt(layer.neurons / tallest) * (HEIGHT - 2 * TOP));
    return { ...layer, x: gap * (place + 0.5), gap, width: Math.min(28, gap * 0.5), height };
  });
  const most = Math.max(1, ...bundles.map((bundle) => bundle.count));
  const paths = [...bundles].sort((a, b) => b.count - a.count).slice(0, MOST_BUNDLES)
    .map((bundle) => ribbon(bars[bundle.source], bars[bundle.target], bundle, most));
  const said = layers.map(({ neurons, label }, place) => `layer ${place}: ${label && `${label}, `}${count(neurons)}`).join("; ");
  const drawing = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "density", role: "img",
    "aria-label": `Layers of the network, from inputs to outputs. ${said}`, "data-testid": "graph",
  }, ...frames(bars), ...paths, ...bars.map(column), ...titles(bars));
  const region = { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "The layers drawn" };
  return h("figure", {}, h("div", region, drawing), key(layers));
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

function column({ x, width, gap, height, neurons, activations, shape }) {
  let y = (HEIGHT - height) / 2;
  const parts = Object.entries(activations).map(([name, number]) => {
    const size = (height * number) / neurons;
    const part = svg("rect", {
      x: x - width / 2, y, width, height: size, class: `fill-${name === "input" ? "input" : family(name)}`,
    }, svg("title", {}, `${name === "input" ? "input" : TITLES[family(name)]}: ${count(number)}`));
    y += size;
    return part;
  });
  const below = (HEIGHT + height) / 2 + 18;
  return svg("g", {}, ...parts, ...texts([count(neurons), shape.length ? `(${shape.join("×")})` : ""], x, below, gap));
}

/** Lines under each other, as far as they fit into the gap between two columns. */
function texts(lines, x, y, gap) {
  return lines.filter((line) => line && line.length * LETTER < gap - 4)
    .map((line, row) => svg("text", { x, y: y + row * 15, "text-anchor": "middle" }, line));
}

/** Runs of columns with one name: a recurrent layer of several levels, or a single column. */
function runs(bars) {
  const found = [];
  for (const bar of bars) {
    const last = found.at(-1);
    if (last && bar.unit !== null && last[0].unit === bar.unit) last.push(bar);
    else found.push([bar]);
  }
  return found;
}

/** A box around the columns of a recurrent layer. */
function frames(bars) {
  return runs(bars).filter((run) => run.length > 1).map((run) => {
    const [tallest, first, last] = [Math.max(...run.map(({ height }) => height)), run[0], run.at(-1)];
    const [x, height] = [first.x - first.gap * 0.42, tallest + 52];
    return svg("rect", { x, y: (HEIGHT - height) / 2, width: last.x + last.gap * 0.42 - x, height, rx: 10, class: "unit" });
  });
}

/** The names of the layers over their columns; upright where they would touch each other. */
function titles(bars) {
  return runs(bars).filter(([{ label }]) => label).map((run) => {
    const [{ label, gap, x: from }, { x: to }] = [run[0], run.at(-1)];
    const top = (HEIGHT - Math.max(...run.map(({ height }) => height))) / 2;
    const [x, y] = [(from + to) / 2, top - (run.length > 1 ? 32 : 8)];
    const fits = label.length * LETTER < gap * run.length - 4;
    const turned = { transform: `rotate(-90 ${x} ${HEIGHT / 2})`, x, y: HEIGHT / 2 + 4, class: "name turned" };
    return svg("text", { "text-anchor": "middle", ...(fits ? { x, y, class: "name" } : turned) }, label);
  });
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
