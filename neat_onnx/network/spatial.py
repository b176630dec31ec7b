"""Spatial blocks: neurons that slide one window over others, as convolutions and pools do.

A block is a hint. It names an operator that some neurons may be written as; their meaning is in
their connections, and a block counts for nothing until it has been checked against them.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import NONE, Ints, ReadOnly, stable_order
from neat_onnx.network.window import Sizes, Window, times

Kind = Literal[
    "Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"
]
POOLS: tuple[Kind, ...] = ("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool")

_CONNECTIONS_ALWAYS_ALLOWED = 1 << 23
_MAX_MADE_PER_CONNECTION = 16  # of the network: most weights of a kernel may be zeros


@dataclass(frozen=True, eq=False)
class SpatialBlock(ReadOnly):
    """Neurons that slide a window over others.

    Attributes:
        kind: the operator that they may be written as.
        sources: the neurons that the window slides over, shape (channels, *space).
        neurons: those that compute, shape (channels, *positions). For ConvTranspose the window
            slides over these, and its positions are the sources.
        window: how it slides.
        groups: groups of channels that do not see each other; of a pool, every channel is its own.
        count_padding: AveragePool: the mean counts the padding as zeros.
    """

    kind: Kind
    sources: Ints
    neurons: Ints
    window: Window
    groups: int = 1
    count_padding: bool = False

    @property
    def is_pool(self) -> bool:
        """It aggregates windows without weights."""
        return self.kind in POOLS

    @property
    def aggregation(self) -> str:
        """The aggregation of the values inside each window."""
        if not self.is_pool:
            return "sum"
        return "max" if self.kind in ("MaxPool", "GlobalMaxPool") else "mean"

    @cached_property
    def repeats_sources(self) -> bool:
        """A source stands in several places, as one that all rows read."""
        return len(np.unique(self.sources)) < self.sources.size

    @property
    def weight_shape(self) -> Sizes:
        """The shape of a convolution's weights: (out, in / groups, *kernel), and for ConvTranspose
        (in, out / groups, *kernel).
        """
        outer, inner = self.neurons, self.sources
        if self.kind == "ConvTranspose":
            outer, inner = inner, outer
        return (len(outer), len(inner) // self.groups, *self.window.kernel)

    def by_activation(self, activation: Ints) -> "list[SpatialBlock]":
        """A convolution, in several where runs of its channels have activations of their own.

        Args:
            activation: the number of each neuron's activation.
        """
        if self.kind != "Conv" or self.groups != 1:
            return [self]
        codes = activation[self.neurons].reshape(len(self.neurons), -1)
        if np.any(codes != codes[:, :1]):
            return [self]
        starts = np.flatnonzero(np.diff(codes[:, 0])) + 1
        return [replace(self, neurons=part) for part in np.split(self.neurons, starts)]


def moved_blocks(blocks: Iterable[SpatialBlock], to: Ints) -> tuple[SpatialBlock, ...]:
    """The blocks with neuron j called to[j], in the order of their first neurons, without blocks of
    a neuron that is called NONE.
    """
    moved = (
        replace(block, sources=to[block.sources], neurons=to[block.neurons]) for block in blocks
    )
    return in_order_of_neurons(
        block for block in moved if block.sources.min() != NONE and block.neurons.min() != NONE
    )


def in_order_of_neurons(blocks: Iterable[SpatialBlock]) -> tuple[SpatialBlock, ...]:
    """The blocks by the first neuron of each, whatever the order of nodes in a file was."""
    return tuple(sorted(blocks, key=lambda block: block.neurons.ravel()[:1].tolist()))


@dataclass(frozen=True, eq=False)
class Fields:
    """The receptive fields of a block, a row for each connection that it says there is.

    They are sorted by neuron, then by source.

    Attributes:
        neuron: places in `block.neurons`, flattened.
        source: places in `block.sources`, flattened.
        weight: for a convolution, places in its weights, flattened; zeros for a pool.
    """

    neuron: Ints
    source: Ints
    weight: Ints


def receptive_fields(block: SpatialBlock) -> Fields:
    """Who reads whom in a block, and with which of its weights."""
    if block.kind != "ConvTranspose":
        return _gathered(block)
    # a source is a window over its neurons
    turned = SpatialBlock("Conv", block.neurons, block.sources, block.window, block.groups)
    found = _gathered(turned)
    neuron, source = found.source, found.neuron
    order = stable_order(neuron * block.sources.size + source)
    return Fields(neuron[order], source[order], found.weight[order])


def check_block(block: SpatialBlock, connections: int | None = None) -> None:
    """Refuse a block whose sizes do not fit together, with a NetworkError.

    Args:
        connections: of the network: a window may make 8,388,608, or 16 times as many as these.
            None where somebody else counts them.
    """
    axes = len(block.window.kernel)
    for what, neurons in (("sources", block.sources), ("neurons", block.neurons)):
        if neurons.ndim != axes + 1 or not neurons.size:
            raise NetworkError(
                f"a window of {axes} axes over {what} of the shape {list(neurons.shape)}"
            )
    channels, out = len(block.sources), len(block.neurons)
    if block.is_pool and (channels != out or block.groups != 1):
        raise NetworkError(f"{block.kind} makes {out} channels of {channels}")
    if channels % block.groups or out % block.groups:
        raise NetworkError(f"{block.groups} groups do not divide {channels} channels into {out}")
    space, positions = block.sources.shape[1:], block.neurons.shape[1:]
    transposed = block.kind == "ConvTranspose"
    if transposed:
        space, positions = positions, space
    reads = math.prod(block.window.kernel) * math.prod(positions)  # those over padding included
    count = reads * channels * (1 if block.is_pool else out // block.groups)
    most = max(_CONNECTIONS_ALWAYS_ALLOWED, _MAX_MADE_PER_CONNECTION * (connections or 0))
    if connections is not None and count > most:
        raise NetworkError(f"the window makes {count} connections, at most {most} can be")
    fitting = block.window.positions(space)
    fits = positions == fitting or (
        transposed and all(count <= most for count, most in zip(positions, fitting, strict=True))
    )
    if not fits:
        raise NetworkError(
            f"the window has {times(fitting)} positions over {times(space)} neurons, "
            f"not {times(positions)}"
        )


def _gathered(block: SpatialBlock) -> Fields:
    """A neuron is a window over its sources: sorted, since all channels see the same places."""
    channels, space = len(block.sources), math.prod(block.sources.shape[1:])
    out, positions = len(block.neurons), math.prod(block.neurons.shape[1:])
    taps = block.window.taps(block.sources.shape[1:], block.neurons.shape[1:])
    position, tap = np.nonzero(taps != NONE)
    place = taps[position, tap]
    if block.is_pool:
        channel = np.arange(channels)[:, None]
        neuron, source = channel * positions + position, channel * space + place
        return Fields(neuron.ravel(), source.ravel(), np.zeros(neuron.size, np.int64))
    seen = channels // block.groups
    made, read = np.arange(out)[:, None], np.arange(seen)[:, None]
    position = np.tile(position, seen)
    source, weight = (read * space + place).ravel(), (read * taps.shape[1] + tap).ravel()
    order = stable_order(position * seen * space + source)
    group = made // (out // block.groups)
    return Fields(
        (made * positions + position[order]).ravel(),
        (group * seen * space + source[order]).ravel(),
        (made * seen * taps.shape[1] + weight[order]).ravel(),
    )
