// The network drawn: inputs left, outputs right, and what a neuron is when it is pointed at.
import { $, count, counted, h, whenChanged } from "./dom.js";
import { layout } from "./layout.js";
import { paint } from "./paint.js";
import { family, TITLES } from "./palette.js";

export function graph() {
  const canvas = h("canvas", { role: "img", "data-testid": "graph" });
  const tip = h("p", { className: "tip", hidden: true });
  const frame = h("div", { className: "frame" }, canvas, tip);
  let scene = null;
  let pointed = -1;

  const redraw = () => { if (scene) paint(canvas, scene, pointed); };
  new ResizeObserver(redraw).observe(frame);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  const point = (neuron) => {
    if (neuron === pointed) return;
    pointed = neuron;
    tip.hidden = neuron < 0;
    if (neuron >= 0) showTip(tip, canvas, scene, neuron);
    redraw();
  };
  canvas.addEventListener("pointermove", (event) => scene && point(nearest(scene, event)));
  canvas.addEventListener("pointerleave", () => point(-1));

  return whenChanged((state) => state.result, (result) => {
    scene = null;
    pointed = -1;
    tip.hidden = true;
    if (!result) return;
    if (!result.graph) {
      $("graph").replaceChildren(h("p", { className: "soft", "data-testid": "graph" },
        `${counted(result.summary.neurons, "neuron")} are too many to draw.`));
      return;
    }
    const { neurons, connections, omitted } = result.graph;
    scene = { neurons, connections, ...layout(neurons, connections), at: [] };
    canvas.ariaLabel = `Drawing of ${counted(neurons.length, "neuron")} in ${scene.columns} columns, `
      + `with ${counted(connections.length, "connection")}`;
    $("graph").replaceChildren(frame, legend(scene, omitted));
    redraw();
  });
}

function nearest({ at, radius }, { offsetX, offsetY }) {
  let [best, found] = [(radius + 8) ** 2, -1];
  at.forEach(([x, y], neuron) => {
    const distance = (x - offsetX) ** 2 + (y - offsetY) ** 2;
    if (distance < best) [best, found] = [distance, neuron];
  });
  return found;
}

function showTip(tip, canvas, { neurons, connections, at }, neuron) {
  const { name, id, kind, activation, aggregation } = neurons[neuron];
  const into = connections.filter(({ target }) => target === neuron).length;
  const out = connections.filter(({ source }) => source === neuron).length;
  const what = kind === "input" ? kind : [kind, activation, aggregation !== "sum" ? aggregation : ""];
  tip.replaceChildren(h("strong", {}, name || String(id)),
    ` ${[what].flat().filter(Boolean).join(" · ")}`, h("br"), `${into} in, ${out} out`);
  const [x, y] = at[neuron];
  const rightHalf = x > canvas.clientWidth / 2;
  tip.style.left = rightHalf ? "" : `${x + 14}px`;
  tip.style.right = rightHalf ? `${canvas.clientWidth - x + 14}px` : "";
  tip.style.top = `${y}px`;
}

function legend({ neurons, connections }, omitted) {
  const families = new Map();
  for (const { kind, activation } of neurons) {
    const name = kind === "input" ? "input" : family(activation);
    families.set(name, (families.get(name) ?? 0) + 1);
  }
  const entry = (mark, text) => h("li", {}, h("span", { className: mark, ariaHidden: "true" }), text);
  const delayed = connections.some(({ enabled, delay }) => enabled && delay > 0);
  const disabled = connections.some(({ enabled }) => !enabled);
  return h("ul", { className: "legend" },
    ...[...families].map(([name, number]) => entry(`swatch tint-${name}`,
      `${name === "input" ? "input" : TITLES[name]} ${count(number)}`)),
    entry("stroke positive", "positive weight"),
    entry("stroke negative", "negative weight"),
    delayed ? entry("stroke delayed", "reads an earlier step") : "",
    disabled ? entry("stroke disabled", "disabled") : "",
    omitted ? h("li", {}, `${count(omitted)} light connections not drawn`) : "");
}
