"""Runs the code that is generated of a network, in each language."""

import ctypes
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neat_onnx import Network, generate_code
from neat_onnx.codegen.plan import plan_of
from neat_onnx.network.genes import Floats

WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")


def parts(net: Network, x: Floats) -> list[Any]:
    """Split rows (rows, I) into what each call takes: a list, or lists by port."""
    cuts = np.cumsum([port.neurons.size for port in net.inputs])[:-1]
    if len(net.inputs) == 1:
        return x.tolist()
    names = [port.name for port in net.inputs]
    return [
        {name: part.tolist() for name, part in zip(names, np.split(row, cuts), strict=True)}
        for row in x
    ]


def joined(net: Network, results: list[Any]) -> Floats:
    """Put results, by port or alone, into rows (rows, O)."""
    if len(net.outputs) == 1:
        return np.array([list(result) for result in results], np.float64)
    names = [port.name for port in net.outputs]
    return np.array([[*(v for name in names for v in result[name])] for result in results])


def run_python(net: Network, x: Floats, *, sequence: bool) -> Floats:
    space: dict[str, Any] = {}
    exec(compile(generate_code(net, language="python"), "network.py", "exec"), space)
    if "activate" in space:
        return joined(net, [space["activate"](row) for row in parts(net, x)])
    network, results = space["Network"](), []
    for row in parts(net, x):
        if not sequence:
            network.reset()
        results.append(network.step(row))
    return joined(net, results)


def run_javascript(folder: Path, jobs: list[tuple[Network, Floats, bool]]) -> list[Floats]:
    """Run many networks in one Node; numbers that JSON lacks travel as words."""
    for k, (net, x, sequence) in enumerate(jobs):
        (folder / f"n{k}.mjs").write_text(generate_code(net, language="javascript"))
        (folder / f"n{k}.json").write_text(
            json.dumps({"x": _words(parts(net, x)), "sequence": sequence})
        )
    (folder / "run.mjs").write_text(RUN_ALL)
    done = subprocess.run(
        ["node", "run.mjs", str(len(jobs))], cwd=folder, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    return [joined(net, _numbers(rows)) for (net, _, _), rows in zip(jobs, found, strict=True)]


def _words(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _words(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_words(item) for item in value]
    return str(value).replace("inf", "Infinity")


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    return [_numbers(item) for item in value] if isinstance(value, list) else float(value)


RUN_ALL = """
import {readFileSync} from "node:fs";
const all = [];
for (let k = 0; k < Number(process.argv[2]); ++k) {
    const {activate, Network} = await import(`./n${k}.mjs`);
    const {x, sequence} = JSON.parse(readFileSync(`n${k}.json`),
        (_, value) => typeof value === "string" ? Number(value) : value);
    const network = activate ? undefined : new Network();
    all.push(x.map((row) => {
        if (activate) return activate(row);
        if (!sequence) network.reset();
        return network.step(row);
    }));
}
console.log(JSON.stringify(all, (_, value) => value instanceof Float64Array
    ? Array.from(value, (each) => Object.is(each, -0) ? "-0" : String(each)) : value));
"""


def run_c(
    folder: Path, net: Network, x: Floats, *, sequence: bool, dtype: str = "float64"
) -> Floats:
    source, library = folder / f"{dtype}.c", folder / f"{dtype}.so"
    source.write_text(generate_code(net, language="c", dtype=dtype))
    subprocess.run(
        ["gcc", *WARNINGS, "-O1", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"],
        check=True,
    )
    code = ctypes.CDLL(str(library))
    real = np.float64 if dtype == "float64" else np.float32
    cuts = np.cumsum([port.neurons.size for port in net.inputs])[:-1]
    sizes = [port.neurons.size for port in net.outputs]
    plan = plan_of(net)
    state = np.empty(plan.rows, real)
    rows = []
    for t, row in enumerate(x.astype(real)):
        given = [np.ascontiguousarray(part) for part in np.split(row, cuts)]
        out = [np.empty(size, real) for size in sizes]
        pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (*given, *out)]
        if not plan.has_memory:
            code.network_activate(*pointers)
        else:
            held = state.ctypes.data_as(ctypes.c_void_p)
            if t == 0 or not sequence:
                code.network_reset(held)
            code.network_step(held, *pointers)
        rows.append(np.concatenate(out))
    return np.array(rows, np.float64)
