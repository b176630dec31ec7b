"""JavaScript that `generate_code` prints, in Node."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from neat_onnx.codegen.generate import generate
from neat_onnx.lifting.ports import BatchAxis
from neat_onnx.model import Model
from neat_onnx.network.network import Network
from neat_onnx.verification.processes import session_of, sizes
from neat_onnx.verification.runtimes import Session, not_installed


def load(model: Model, batch_axis: BatchAxis = "auto") -> Session:
    """Import a model and print it as an ES module, whose numbers are float64."""
    node = shutil.which("node")
    if node is None:
        raise not_installed("javascript")

    def build(net: Network, folder: Path) -> Sequence[str]:
        text = generate(net, "javascript", "float64", "network")
        (folder / "network.mjs").write_text(text, encoding="utf-8")
        (folder / "play.mjs").write_text(_MAIN, encoding="utf-8")
        ports = [
            [[port.name, size] for port, size in zip(each, sizes(each), strict=True)]
            for each in (net.inputs, net.outputs)
        ]
        return [node, str(folder / "play.mjs"), json.dumps(ports)]

    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    return session_of(model, f"javascript node {said.stdout.strip()}", build, batch_axis)


_MAIN = """\
// Play sequences from standard input.
import {readFileSync, writeSync} from "node:fs";
import * as network from "./network.mjs";

const [inputs, outputs] = JSON.parse(process.argv[2]);
const [count, steps] = process.argv.slice(3).map(Number);
const numbers = new Float64Array(new Uint8Array(readFileSync(0)).buffer);
const width = outputs.reduce((sum, [, size]) => sum + size, 0);
const found = new Float64Array(count * steps * width);
let from = 0, to = 0;
for (let n = 0; n < count; ++n) {
    const memory = network.Network && new network.Network();
    for (let t = 0; t < steps; ++t) {
        const given = inputs.map(([name, size]) =>
            [name, numbers.subarray(from, from += size)]);
        const argument = given.length === 1 ? given[0][1] : Object.fromEntries(given);
        const result = memory ? memory.step(argument) : network.activate(argument);
        for (const [name, size] of outputs) {
            found.set(outputs.length === 1 ? result : result[name], to);
            to += size;
        }
    }
}
const bytes = new Uint8Array(found.buffer);
for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
"""
