"""Ports: the named inputs and outputs of a network, and names for parts of its memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from neat_onnx.network.genes import NONE, Ints, ReadOnly

Dtype = Literal[
    "", "bool", "float16", "float64",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip
"""The type of a port's elements in a graph, as numpy calls it; "" is the usual one of numbers."""


@dataclass(frozen=True)
class Port(ReadOnly):
    """A named input or output: an array of neurons. Hints take no part in equality.

    Attributes:
        name: the name it has in the ONNX graph.
        shape: its shape without the batch dimension.
        neurons: positions in the network, in C order; their number is the product of `shape`.
        dtype: a hint at the type that its elements have in a graph: an output has it where
            the graph computes integers, or truth values.
        batch_axis: a hint at where the batch is among its axes in a graph; None where it has none
            there, since a graph takes one sample, or all samples share the input.
        time_axis: a hint at where time is among these and the batch, where the graph takes whole
            sequences; None of an input beside them that is the same at every step, and of an output
            that has their last step alone.
    """

    name: str
    shape: tuple[int, ...]
    neurons: Ints
    dtype: Dtype = ""
    batch_axis: int | None = 0
    time_axis: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether a graph has it as a network does: of numbers, samples first, one step."""
        others = bool(self.batch_axis) or self.time_axis is not None
        return self.dtype in ("", "float64") and not others

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Port) or (self.name, self.shape) != (other.name, other.shape):
            return False
        return np.array_equal(self.neurons, other.neurons)

    __hash__ = None  # type: ignore[assignment]


def are_plain(ports: Sequence[Port]) -> bool:
    """Whether a graph has ports as a network does, their numbers of one type."""
    return all(port.is_plain for port in ports) and len({port.dtype for port in ports}) <= 1


def shared_ports(inputs: Sequence[Port]) -> list[Port]:
    """The inputs without a batch, where others have one: all samples share them."""
    shared = [port for port in inputs if port.batch_axis is None]
    return shared if len(shared) < len(inputs) else []


def static_ports(inputs: Sequence[Port]) -> list[Port]:
    """The inputs without time, where others have one in a graph: the same at every step."""
    static = [port for port in inputs if port.time_axis is None]
    return static if len(static) < len(inputs) else []


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


TIME_NAMES = frozenset(
    {"t", "time", "seq", "seq_len", "seqlen", "seq_length", "sequence", "sequence_length"}
    | {"time_steps", "timesteps", "steps", "length"}
)
"""In lower case."""


def names_time(symbol: str) -> bool:
    """Whether a symbol, as "seq_len" or "T", says that its axis is time."""
    return symbol.lower() in TIME_NAMES
