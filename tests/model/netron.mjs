// Netron's own reading of a model: reads a JSON list of JSON texts on standard input, and prints for
// each of them the ports, nodes, attributes and weights that Netron shows.
//     node netron.mjs FOLDER_OF_NETRON < texts.json

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const load = (name) => import(pathToFileURL(join(folder, name)));
await load("base.js"); // gives BigInt its toNumber
const { ModelFactory } = await load("onnx.js");

/** The context that Netron gives to a reader: a file that holds one JSON document. */
function contextOf(text) {
  const nothing = { length: 0, position: 0, peek: () => new Uint8Array(0), seek() {}, read: () => new Uint8Array(0) };
  return {
    identifier: "model.json",
    stream: nothing,
    tags: async () => new Map(),
    peek: async (kind) => (kind === "json" ? JSON.parse(text) : null),
    read: async () => JSON.parse(text),
    require: (name) => load(`${name}.js`),
    asset: (name) => readFile(join(folder, name), "utf8"),
    set(type, value) {
      this.type = type;
      this.value = value;
      return this;
    },
  };
}

const port = ({ name, value }) => [name, value[0].type.dataType, value[0].type.shape.dimensions.map(String)];
const plain = (value) => (ArrayBuffer.isView(value) ? [...value] : value);

function shown(graph) {
  const weights = {};
  const seen = (argument) =>
    argument.value.map((value) => {
      if (value.initializer) {
        const { type, values } = value.initializer;
        weights[value.name] = [type.dataType, type.shape.dimensions.map(Number), [...values]];
      }
      return value.name;
    });
  const nodes = graph.nodes.map((node) => ({
    op_type: node.type.name,
    input: node.inputs.flatMap(seen),
    output: node.outputs.flatMap((argument) => argument.value.map((value) => value.name)),
    attribute: Object.fromEntries(
      node.attributes.map(({ name, value }) => [name, value?.nodes ? shown(value) : plain(value)]),
    ),
  }));
  return { input: graph.inputs.map(port), output: graph.outputs.map(port), nodes, weights };
}

const texts = JSON.parse(await new Promise((resolve) => {
  let all = "";
  process.stdin.on("data", (part) => (all += part)).on("end", () => resolve(all));
}));
const models = [];
for (const text of texts) {
  const factory = new ModelFactory();
  const context = await factory.match(contextOf(text));
  const model = context ? await factory.open(context) : null;
  models.push(model && { format: model.format, ...shown(model.modules[0]) });
}
process.stdout.write(
  JSON.stringify(models, (_, value) => (typeof value === "bigint" ? Number(value) : value)),
);
