"""C that `generate_code` prints, compiled by the compiler of this machine."""

import shutil
import subprocess
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from neat_onnx.codegen.generate import generate
from neat_onnx.lifting.ports import BatchAxis
from neat_onnx.model import DataType, Model
from neat_onnx.network.network import Network
from neat_onnx.verification.processes import session_of, sizes
from neat_onnx.verification.runtimes import Session, not_installed

_COMPILERS = ("cc", "gcc", "clang")
_FLAGS = ("-std=c99", "-O1")


def load(model: Model, batch_axis: BatchAxis = "auto") -> Session:
    """Import a model, print it in C and compile it; in float if the model is float32."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        raise not_installed("c")
    single = model.graph.number_type is DataType.FLOAT

    def build(net: Network, folder: Path) -> Sequence[str]:
        source, program = folder / "network.c", folder / "network"
        text = generate(net, "c", "float32" if single else "float64", "network")
        source.write_text(f"{text}\n{_main(net)}", encoding="utf-8")
        _said([compiler, *_FLAGS, str(source), "-o", str(program), "-lm"])
        return [str(program)]

    version = _said([compiler, "-dumpversion"]).strip()
    return session_of(model, f"c {Path(compiler).name} {version}", build, batch_axis)


def _said(command: Sequence[str]) -> str:
    """The output of a command.

    Raises:
        RuntimeError: it fails; the first line of its complaint.
    """
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or f"{command[0]} fails").splitlines()[0])
    return done.stdout


def _main(net: Network) -> str:
    """The function that plays sequences from standard input."""
    inputs, outputs = sizes(net.inputs), sizes(net.outputs)
    ports = [f"x + {start}" for start in accumulate(inputs[:-1], initial=0)]
    ports += [f"y + {start}" for start in accumulate(outputs[:-1], initial=0)]
    memory = net.has_memory
    return _MAIN.format(
        inputs=sum(inputs),
        outputs=sum(outputs),
        state="network_state state;" if memory else "",
        reset="network_reset(&state);" if memory else "",
        call=f"network_{'step' if memory else 'activate'}"
        f"({', '.join(['&state'] * memory + ports)});",
    )


_MAIN = """\
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
