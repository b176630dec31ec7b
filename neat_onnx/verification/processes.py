"""Generated code as a runtime: a model imported, printed as source text, and run in a process.

The process is called with the numbers of sequences N and of steps T. It reads their inputs from
standard input as doubles, (N, T, I), writes the outputs to standard output, (N, T, O), and resets
its memory before each sequence.
"""

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neat_onnx.genome.read import import_network
from neat_onnx.lifting.ports import BatchAxis
from neat_onnx.model import Model
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.verification.runtimes import Feed, Session

_SECONDS = 600.0  # more than any run takes

Build = Callable[[Network, Path], Sequence[str]]
"""Writes a program for a network into a folder and returns the command that runs it."""


def session_of(model: Model, name: str, build: Build, batch_axis: BatchAxis) -> Session:
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
    folder = tempfile.TemporaryDirectory(prefix="neat_onnx-")
    program = _Program(net, folder, build(net, Path(folder.name)))
    return Session(program.run, name, sequences=True)


def sizes(ports: Sequence[Port]) -> list[int]:
    """Return the number of values of each port."""
    return [int(port.neurons.size) for port in ports]


class _Program:
    """A program in a temporary folder, which goes when this object does."""

    def __init__(
        self, net: Network, folder: "tempfile.TemporaryDirectory[str]", command: Sequence[str]
    ) -> None:
        self._net, self._folder, self._command = net, folder, command

    def run(self, feed: Feed) -> dict[str, Any]:
        """Compute the outputs (T, N, *shape) of each port for inputs (T, N, *shape)."""
        inputs, outputs = self._net.inputs, self._net.outputs
        steps, count = feed[inputs[0].name].shape[:2]
        parts = [feed[port.name].reshape(steps, count, -1) for port in inputs]
        x = np.concatenate(parts, axis=-1).swapaxes(0, 1)
        done = subprocess.run(
            [*self._command, str(count), str(steps)],
            input=np.ascontiguousarray(x, np.float64).tobytes(),
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise RuntimeError(said[-1] if said else f"it ends with {done.returncode}")
        y = np.frombuffer(done.stdout, np.float64).reshape(count, steps, -1).swapaxes(0, 1)
        cuts = np.cumsum(sizes(outputs))[:-1]
        return {
            port.name: values.reshape(steps, count, *port.shape)
            for port, values in zip(outputs, np.split(y, cuts, axis=-1), strict=True)
        }

    def __del__(self) -> None:
        self._folder.cleanup()
