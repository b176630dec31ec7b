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
GODOT = shutil.which("godot3-server") or shutil.which("godot3")
MONO = shutil.which("mcs") and shutil.which("mono")
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


def run_csharp(folder: Path, jobs: list[tuple[Network, Floats, bool]]) -> list[Floats]:
    """Run many networks in one program of Mono, a class for each."""
    calls = []
    for k, (net, _, _) in enumerate(jobs):
        (folder / f"n{k}.cs").write_text(generate_code(net, language="csharp", name=f"N{k}"))
        ports = [f"Part({port.neurons.size})" for port in net.inputs]
        ports += [f"new double[{port.neurons.size}]" for port in net.outputs]
        names = [f"p{i}" for i in range(len(ports))]
        made = "".join(f"var {n} = {p};" for n, p in zip(names, ports, strict=True))
        outs = "".join(f"Put({name});" for name in names[len(net.inputs) :])
        step = "Step" if plan_of(net).has_memory else "Activate"
        reset = "if (!sequence) n.Reset();" if step == "Step" else ""
        calls.append(
            f"case {k}: {{ var n = new N{k}(); for (; rows > 0; --rows)"
            f" {{ {made} {reset} n.{step}({', '.join(names)}); {outs} }} break; }}"
        )
    (folder / "Main.cs").write_text(MAIN_OF_CSHARP.replace("CALLS", "\n".join(calls)))
    sources = [path.name for path in folder.glob("*.cs")]
    build = ["mcs", "-langversion:5", "-nowarn:219", "-warnaserror+", "-out:run.exe", *sources]
    built = subprocess.run(build, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return _played(folder, ["mono", "run.exe"], jobs)


def run_gdscript(folder: Path, jobs: list[tuple[Network, Floats, bool]]) -> list[Floats]:
    """Run many networks in one Godot, a script for each."""
    for k, (net, _, _) in enumerate(jobs):
        (folder / f"n{k}.gd").write_text(generate_code(net, language="gdscript"))
        ports = [[[p.name, p.neurons.size] for p in side] for side in (net.inputs, net.outputs)]
        (folder / f"n{k}.json").write_text(json.dumps(ports, ensure_ascii=False))
    (folder / "run.gd").write_text(MAIN_OF_GDSCRIPT)
    (folder / "project.godot").touch()
    command = [str(GODOT), "--path", str(folder), "-s", str(folder / "run.gd")]
    return _played(folder, command, jobs)


def runs() -> list[Any]:
    """The functions that run many networks at once, of those languages that this machine has."""
    return [run_javascript, *([run_csharp] if MONO else []), *([run_gdscript] if GODOT else [])]


def _played(
    folder: Path, command: list[str], jobs: list[tuple[Network, Floats, bool]]
) -> list[Floats]:
    """Run a program that reads x.bin, the rows of all jobs, and writes y.bin, their outputs."""
    with open(folder / "x.bin", "wb") as file:
        for _, x, sequence in jobs:
            file.write(np.array([len(x), sequence]).astype("<f8").tobytes())
            file.write(x.astype("<f8").tobytes())
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found, results = np.fromfile(folder / "y.bin", "<f8"), []
    for net, x, _ in jobs:
        size = len(x) * sum(port.neurons.size for port in net.outputs)
        results.append(found[:size].reshape(len(x), -1))
        found = found[size:]
    assert not len(found), done.stdout + done.stderr
    return results


MAIN_OF_CSHARP = """
using System.IO;
static class Program
{
    static BinaryReader input = new BinaryReader(File.OpenRead("x.bin"));
    static BinaryWriter output = new BinaryWriter(File.Create("y.bin"));
    static double[] Part(int size)
    {
        var found = new double[size];
        for (int i = 0; i < size; ++i) found[i] = input.ReadDouble();
        return found;
    }
    static void Put(double[] values) { foreach (var value in values) output.Write(value); }
    static void Main()
    {
        for (int k = 0; input.BaseStream.Position < input.BaseStream.Length; ++k) {
            int rows = (int)input.ReadDouble();
            bool sequence = input.ReadDouble() != 0;
            switch (k) {
CALLS
            }
        }
        output.Flush();
    }
}
"""
MAIN_OF_GDSCRIPT = """
extends SceneTree
var read = File.new()
var written = File.new()
func _init():
    read.open("res://x.bin", File.READ)
    written.open("res://y.bin", File.WRITE)
    var k = 0
    while read.get_position() < read.get_len():
        play(load("res://n%d.gd" % k).new(), k)
        k += 1
    written.close()
    quit()
func play(network, k):
    var file = File.new()
    file.open("res://n%d.json" % k, File.READ)
    var ports = parse_json(file.get_as_text())
    var rows = int(read.get_double())
    var sequence = read.get_double() != 0.0
    for row in range(rows):
        var given = {}
        for port in ports[0]:
            given[port[0]] = []
            for i in range(port[1]): given[port[0]].append(read.get_double())
        if len(ports[0]) == 1: given = given[ports[0][0][0]]
        if network.has_method("reset") and not sequence: network.reset()
        var found = network.step(given) if network.has_method("step") else network.activate(given)
        for port in ports[1]:
            for value in (found if len(ports[1]) == 1 else found[port[0]]):
                written.store_double(value)
"""
