// node compile.mjs PYODIDE.mjs COMPILE_INSIDE.py LEFT_OUT '[[IN, OUT], …]'
// Runs COMPILE_INSIDE.py in Pyodide on each pair of files.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, script, leftOut, pairs] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(pyodide).href);
const python = await loadPyodide();
python.runPython(readFileSync(script, "utf8"));
const convert = python.globals.get("convert");
for (const [source, target] of JSON.parse(pairs)) {
  const result = convert(python.toPy(new Uint8Array(readFileSync(source))), leftOut);
  writeFileSync(target, result.toJs());
  result.destroy();
}
process.exit(0);
