// Runs compiled plans: lines of {document, arrays: {name: base64}, rows: [[text]]} in, lines of outputs out.
import { createInterface } from "node:readline";
import { Evaluator } from "../../web/live/evaluator.js";

for await (const line of createInterface({ input: process.stdin })) {
  const { document, arrays, rows } = JSON.parse(line);
  const bytes = Object.fromEntries(Object.entries(arrays)
    .map(([name, text]) => [name, new Uint8Array(Buffer.from(text, "base64"))]));
  const evaluator = new Evaluator(document, bytes);
  const outputs = rows.map((row) => evaluator.outputsOf(evaluator.step(row.map(Number))).map(String));
  console.log(JSON.stringify(outputs));
}
