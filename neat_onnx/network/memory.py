"""Names for parts of the memory: which input and output of a graph carry which activations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from neat_onnx.network.genes import NONE, Ints, ReadOnly


@dataclass(frozen=True, eq=False)
class MemoryPort(ReadOnly):
    """A graph input and a graph output that carry activations from each step to the next.

    It is a hint at how the memory of a network is written; the memory itself is its delays.

    Attributes:
        input, output: the names that they have in the ONNX graph.
        shape: their shape without the batch dimension.
        batch_axis: where the batch is among their axes.
        neurons: positions in the network, in C order, each once.
    """

    input: str
    output: str
    shape: tuple[int, ...]
    batch_axis: int
    neurons: Ints


def moved_memory(ports: Iterable[MemoryPort], to: Ints) -> tuple[MemoryPort, ...]:
    """The ports with neuron j called to[j], without ports of a neuron that is called NONE."""
    moved = (replace(port, neurons=to[port.neurons]) for port in ports)
    return tuple(port for port in moved if not np.any(port.neurons == NONE))
