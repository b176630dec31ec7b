"""Python that `generate_code` prints, in an interpreter of its own that loads nothing else."""

import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from neat_onnx.codegen.generate import generate
from neat_onnx.lifting.ports import BatchAxis
from neat_onnx.model import Model
from neat_onnx.network.network import Network
from neat_onnx.verification.processes import session_of, sizes
from neat_onnx.verification.runtimes import Session


def load(model: Model, batch_axis: BatchAxis = "auto") -> Session:
    """Import a model and print it in Python, whose numbers are float64."""
    return session_of(model, f"python {platform.python_version()}", _build, batch_axis)


def _build(net: Network, folder: Path) -> Sequence[str]:
    program = folder / "network.py"
    ports = [
        dict(zip((port.name for port in each), sizes(each), strict=True))
        for each in (net.inputs, net.outputs)
    ]
    text = f"{generate(net, 'python', 'float64', 'network')}\n\n{_MAIN}"
    program.write_text(text, encoding="utf-8")
    return [sys.executable, "-I", str(program), json.dumps(ports)]


_MAIN = '''\
def main():
    """Play sequences from standard input."""
    import array
    import json
    import sys

    inputs, outputs = json.loads(sys.argv[1])
    count, steps = int(sys.argv[2]), int(sys.argv[3])
    numbers = array.array("d", sys.stdin.buffer.read())
    found = array.array("d")
    at = 0
    for _ in range(count):
        play = Network().step if "Network" in globals() else activate
        for _ in range(steps):
            given = {}
            for name, size in inputs.items():
                given[name] = numbers[at : at + size].tolist()
                at += size
            result = play(given if len(inputs) > 1 else given.popitem()[1])
            for name in outputs:
                found.extend(result[name] if len(outputs) > 1 else result)
    sys.stdout.buffer.write(found.tobytes())


main()
'''
