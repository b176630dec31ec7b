// The model seen: its graph, hovered together with the drawing of the network, its JSON and its text.
import { $, count, counted, fold, h, svg, whenChanged } from "./dom.js";

const [WIDE, HIGH, GAP_X, GAP_Y] = [148, 54, 36, 14];

export function modelGraph({ lookIntoModel, light }) {
  let boxes = []; // [{element, neurons}] of the nodes drawn
  const build = whenChanged((state) => state.result, (result) => {
    boxes = [];
    if (result) $("model-graph").replaceChildren(fold("model-graph", "Look into the model", "Looking into the model…", lookIntoModel, (found) => draw(found, boxes, light)));
  });
  const point = whenChanged((state) => state.drawn?.graph?.neurons[state.selected]?.place, (selected) => {
    for (const { element, neurons } of boxes) element.classList.toggle("lit", neurons.includes(selected));
  });
  return (state) => {
    build(state);
    point(state);
  };
}

function draw({ nodes, omitted, elements, text, json }, boxes, light) {
  const more = omitted ? ` and ${count(omitted)} more that are not drawn` : "";
  return [
    h("p", { className: "soft" }, `${counted(nodes.length, "node")}${more}, ${counted(elements, "number")} in the initializers. `
      + "Point at a node: its neurons light up in the drawing above."),
    h("div", { className: "nodes", tabIndex: 0, role: "group", ariaLabel: "Graph of the model" }, graphOf(nodes, boxes, light)),
    ...(json === null ? [h("p", { className: "soft" }, "It is too large to be written out here: download it as JSON instead.")] : [
      written("model-json", "As JSON", json), written("model-text", "As ONNX text", text),
    ]),
  ];
}

const written = (name, title, text) => h("details", { "data-testid": name }, h("summary", {}, title), h("pre", { tabIndex: 0 }, h("code", {}, text)));

/** Nodes in columns, each behind the last node that it reads. */
function graphOf(nodes, boxes, light) {
  const column = [];
  const rows = [];
  const at = nodes.map(({ reads }, place) => {
    column[place] = reads.length ? 1 + Math.max(...reads.map((other) => column[other])) : 0;
    rows[column[place]] = (rows[column[place]] ?? 0) + 1;
    return [column[place] * (WIDE + GAP_X) + 2, (rows[column[place]] - 1) * (HIGH + GAP_Y) + 2];
  });
  const [width, height] = [rows.length * (WIDE + GAP_X), Math.max(...rows) * (HIGH + GAP_Y)];
  const lines = nodes.flatMap(({ reads }, place) => reads.map((other) => {
    const [x1, y1, x2, y2] = [at[other][0] + WIDE, at[other][1] + HIGH / 2, at[place][0], at[place][1] + HIGH / 2];
    return svg("path", { d: `M${x1},${y1}C${x1 + 18},${y1} ${x2 - 18},${y2} ${x2},${y2}`, class: "edge" });
  }));
  const drawn = nodes.map((node, place) => {
    const element = box(node, at[place]);
    element.addEventListener("pointerenter", () => light(node.neurons));
    element.addEventListener("pointerleave", () => light([]));
    boxes.push({ element, neurons: node.neurons });
    return element;
  });
  const said = nodes.map(({ op }) => op).slice(0, 20).join(", ");
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Nodes in order: ${said}` }, ...lines, ...drawn);
}

function box({ op, name, shape, initializers, neurons }, [x, y]) {
  const weights = initializers.length ? initializers.join(", ") : name;
  return svg("g", { class: "node", transform: `translate(${x},${y})` },
    svg("title", {}, [`${op} ${name}`, shape && `gives ${shape}`, initializers.join(", "), counted(neurons.length, "neuron")].filter(Boolean).join("\n")),
    svg("rect", { width: WIDE, height: HIGH, rx: 8 }),
    svg("text", { x: 10, y: 22, class: "op" }, op),
    svg("text", { x: WIDE - 10, y: 22, "text-anchor": "end" }, shape.length > 12 ? `${shape.slice(0, 11)}…` : shape),
    svg("text", { x: 10, y: 41 }, weights.length > 22 ? `${weights.slice(0, 21)}…` : weights));
}
