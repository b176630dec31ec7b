"""Names of ports that are words of a language, macros, or text that might break out."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from running_code import needs_compiler, run_c, run_python, runs

from neat_onnx import Network, generate_code
from neat_onnx.network.port import Port

HOSTILE = [
    "*/ int main(void) { return 1; } /*", "double", "v", "BIAS", "a\nb", "9", "`${1}`", '"""', "é",
    "v", "tanh", "class", "\u2028", "output_2",
    "\U0001f600", "len", "str", "RangeError", "ValueError",
    "Math", "namespace", "func", "lerp", "PI",
]  # fmt: skip


def hostile() -> Network:
    """A network with a port for each name that might break out of a text, and one neuron each."""
    count = len(HOSTILE)
    net = Network.mlp([count, count], activation="tanh", seed=1)
    names = [f"{name}{k}" if HOSTILE.index(name) != k else name for k, name in enumerate(HOSTILE)]
    inputs = tuple(Port(name, (1,), np.array([k])) for k, name in enumerate(names))
    outputs = tuple(Port(f"{name}+", (), np.array([k + count])) for k, name in enumerate(names))
    return replace(net, inputs=inputs, outputs=outputs)


def test_names_of_ports_cannot_break_out(tmp_path: Path):
    net = hostile()
    x = np.random.default_rng(0).normal(size=(4, len(HOSTILE)))
    given = {port.name: x[:, [k]] for k, port in enumerate(net.inputs)}
    want = np.stack(list(net.activate(given).values()), axis=1)
    np.testing.assert_allclose(run_python(net, x, sequence=False), want, rtol=1e-13)
    for run in runs():
        (got,) = run(tmp_path, [(net, x, False)])
        np.testing.assert_allclose(got, want, rtol=1e-13)
    if shutil.which("gcc"):
        np.testing.assert_allclose(run_c(tmp_path, net, x, sequence=False), want, rtol=1e-13)


@needs_compiler
@pytest.mark.parametrize("standard", ["-std=c99", "-std=gnu17", "-std=gnu2x", "-D_GNU_SOURCE"])
def test_ports_may_have_the_names_of_macros(standard: str, tmp_path: Path):
    headers = "#include <math.h>\n#include <string.h>\n"
    told = subprocess.run(
        ["gcc", standard, "-dM", "-E", "-"],
        input=headers,
        capture_output=True,
        text=True,
        check=True,
    )
    macros = {line.split()[1].partition("(")[0] for line in told.stdout.splitlines()}
    names = sorted({"asm", "bool", *(name for name in macros if name[0] != "_")})
    assert {"NAN", "math_errhandling"} < set(names)
    count = len(names)
    net = Network.mlp([count, 1], seed=1)
    net = replace(net, inputs=tuple(Port(name, (), np.array([k])) for k, name in enumerate(names)))
    source = tmp_path / "network.c"
    for name in ("network", "NAN", "linux"):
        source.write_text(generate_code(net, language="c", name=name))
        command = [
            "gcc",
            standard,
            "-Wall",
            "-Werror",
            "-c",
            str(source),
            "-o",
            str(tmp_path / "o"),
        ]
        subprocess.run(command, check=True)
