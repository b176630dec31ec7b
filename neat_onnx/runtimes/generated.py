"""Generated code as a runtime: a model imported, printed as source text, and run in a process.

The process is called with the numbers of sequences N and of steps T. It reads their inputs from
standard input as doubles, (N, T, I), writes the outputs to standard output, (N, T, O), and resets
its memory before each sequence. There is a function a language, named like the runtime.
"""

import json
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from neat_onnx.codegen.generate import generate
from neat_onnx.genome.read import import_network
from neat_onnx.lifting.axes import BatchAxis
from neat_onnx.model import DataType, Model
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.runtimes import Feed, Session, not_installed

_COMPILERS, _FLAGS = ("cc", "gcc", "clang"), ("-std=c99", "-O1")
_SECONDS = 600.0  # more than any run takes

Build = Callable[[Network, Path], Sequence[str]]
"""Writes a program for a network into a folder and returns the command that runs it."""


def _session_of(model: Model, name: str, build: Build, batch_axis: BatchAxis) -> Session:
    """Return a session that runs a model as generated code.

    Args:
        model: the imported model; its metadata counts where it agrees with the graph.
        name: the language and the version of its compiler or interpreter.
        build: writes the program.
        batch_axis: of the import.

    Raises:
        ModelError: the model cannot be imported.
        OptionError: the language lacks a function that the model needs.
        subprocess.SubprocessError: the program cannot be built.
    """
    net = import_network(model, batch_axis)
    folder = tempfile.mkdtemp(prefix="neat_onnx-")

    def run(feed: Feed) -> dict[str, Any]:
        """Compute the outputs (T, N, *shape) of each port for inputs (T, N, *shape)."""
        steps, count = feed[net.inputs[0].name].shape[:2]
        parts = [feed[port.name].reshape(steps, count, -1) for port in net.inputs]
        x = np.concatenate(parts, axis=-1).swapaxes(0, 1)
        done = subprocess.run(
            [*command, str(count), str(steps)],
            input=np.ascontiguousarray(x, np.float64).tobytes(),
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise RuntimeError(said[-1] if said else f"it ends with {done.returncode}")
        y = np.frombuffer(done.stdout, np.float64).reshape(count, steps, -1).swapaxes(0, 1)
        cuts = np.cumsum(_sizes(net.outputs))[:-1]
        return {
            port.name: values.reshape(steps, count, *port.shape)
            for port, values in zip(net.outputs, np.split(y, cuts, axis=-1), strict=True)
        }

    weakref.finalize(run, shutil.rmtree, folder)  # the program goes when nobody can run it
    command = build(net, Path(folder))
    return Session(run, name, sequences=True)


def _sizes(ports: Sequence[Port]) -> list[int]:
    """Return the number of values of each port."""
    return [int(port.neurons.size) for port in ports]


def c(model: Model, batch_axis: BatchAxis = "auto") -> Session:
    """Import a model, print it in C and compile it; in float if the model is float32."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        raise not_installed("c")
    single = model.graph.number_type is DataType.FLOAT

    def build(net: Network, folder: Path) -> Sequence[str]:
        source, program = folder / "network.c", folder / "network"
        text = generate(net, "c", "float32" if single else "float64", "network")
        source.write_text(f"{text}\n{_c_main(net)}", encoding="utf-8")
        _said([compiler, *_FLAGS, str(source), "-o", str(program), "-lm"])
        return [str(program)]

    version = _said([compiler, "-dumpversion"])
    return _session_of(model, f"c {Path(compiler).name} {version}", build, batch_axis)


def _said(command: Sequence[str]) -> str:
    """The output of a command.

    Raises:
        RuntimeError: it fails; the first line of its complaint.
    """
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or f"{command[0]} fails").splitlines()[0])
    return done.stdout.strip()


def _c_main(net: Network) -> str:
    """The function that plays sequences from standard input."""
    inputs, outputs = _sizes(net.inputs), _sizes(net.outputs)
    ports = [f"x + {start}" for start in accumulate(inputs[:-1], initial=0)]
    ports += [f"y + {start}" for start in accumulate(outputs[:-1], initial=0)]
    memory = net.has_memory
    return _C_MAIN.format(
        inputs=sum(inputs),
        outputs=sum(outputs),
        state="network_state state;" if memory else "",
        reset="network_reset(&state);" if memory else "",
        call=f"network_{'step' if memory else 'activate'}"
        f"({', '.join(['&state'] * memory + ports)});",
    )


def javascript(model: Model, batch_axis: BatchAxis = "auto") -> Session:
    """Import a model and print it as an ES module, whose numbers are float64."""
    node = shutil.which("node")
    if node is None:
        raise not_installed("javascript")

    def build(net: Network, folder: Path) -> Sequence[str]:
        text = generate(net, "javascript", "float64", "network")
        (folder / "network.mjs").write_text(text, encoding="utf-8")
        (folder / "play.mjs").write_text(_JAVASCRIPT_MAIN, encoding="utf-8")
        sizes = [
            [(port.name, port.neurons.size) for port in side] for side in (net.inputs, net.outputs)
        ]
        return [node, str(folder / "play.mjs"), json.dumps(sizes)]

    return _session_of(model, f"javascript node {_said([node, '--version'])}", build, batch_axis)


_C_MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

int main(int count, char **words)
{{
    static double read[{inputs}], written[{outputs}];
    static real x[{inputs}], y[{outputs}];
    {state}
    if (count < 3) return 2;
#ifdef _WIN32
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    for (long n = atol(words[1]); n > 0; --n) {{
        {reset}
        for (long t = atol(words[2]); t > 0; --t) {{
            if (fread(read, sizeof *read, {inputs}, stdin) != {inputs}) return 1;
            for (int i = 0; i < {inputs}; ++i) x[i] = (real)read[i];
            {call}
            for (int i = 0; i < {outputs}; ++i) written[i] = y[i];
            if (fwrite(written, sizeof *written, {outputs}, stdout) != {outputs}) return 1;
        }}
    }}
    return 0;
}}
"""

_JAVASCRIPT_MAIN = """\
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
