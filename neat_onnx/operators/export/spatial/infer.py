"""Convolutions found in the weights of layers, without anybody saying where they are.

A layer is the neurons of one level that sum, share an activation, and read the same space: an input
port, the neurons of a block, or the other neurons of the level before. Both sides stand in C order
of
channel, row and column; how many of each there are is found, unless a port or a block tells.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.genes import NONE, Floats, Ints
from neat_onnx.network.schedule import schedule
from neat_onnx.network.spatial import SpatialBlock, check_block
from neat_onnx.network.window import Sizes
from neat_onnx.operators.export.spatial.guesses import Geometry, Matrix, geometry_of
from neat_onnx.operators.export.spatial.weights import NotShared, shared_weights


def inferred_blocks(ctx: LoweringContext, known: Sequence[SpatialBlock]) -> Iterator[SpatialBlock]:
    """Convolutions among the neurons that no known block has; each one holds."""
    net, spaces = ctx.net, _Spaces(ctx.signals.count)
    for port in net.inputs:
        spaces.add(port.neurons, port.shape)
    taken = np.zeros(len(net), np.bool_)
    for block in known:
        taken[block.neurons] = True
        spaces.add(block.neurons.ravel(), block.neurons.shape)
    needed = np.zeros(len(net), np.bool_)
    needed[np.concatenate(ctx.schedule.levels)] = True
    order = _order(ctx)
    for members in schedule(net).levels[1:]:
        level = members[np.argsort(order[members])]
        for layer in _layers(ctx, spaces, level[~taken[level]]):
            found = _found(ctx, layer) if np.any(needed[layer.neurons]) else None
            if found is not None:
                yield found
                spaces.add(found.neurons.ravel(), found.neurons.shape)
        spaces.add(level[spaces.of[level] == NONE])


@dataclass(frozen=True, eq=False)
class _Space:
    """Neurons that a window may slide over, and the shapes [channels, height, width] that are known
    of them.
    """

    neurons: Ints
    shapes: list[Sizes]


@dataclass(eq=False)
class _Spaces:
    """Every convolution that the weights show.

    Attributes:
        all: each one.
        of, place: for each signal, the space that it is in, or NONE, and where it stands there.
    """

    count: int
    all: list[_Space] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.of: Ints = np.full(self.count, NONE, np.int64)
        self.place: Ints = np.full(self.count, NONE, np.int64)

    def add(self, neurons: Ints, shape: Sizes = ()) -> None:
        self.of[neurons] = len(self.all)
        self.place[neurons] = np.arange(len(neurons))
        self.all.append(_Space(neurons, _planes(shape)))


@dataclass(frozen=True, eq=False)
class _Layer:
    """Neurons that may be a convolution over a space."""

    neurons: Ints
    space: _Space
    matrix: Matrix


def _order(ctx: LoweringContext) -> Ints:
    """The sort key of neurons: outputs stand in the order of their ports, others in that of the
    genome.
    """
    count, outputs = len(ctx.net), ctx.net.output_neurons
    order = np.arange(count)
    order[outputs[::-1]] = count + np.arange(len(outputs))[::-1]
    return order


def _layers(ctx: LoweringContext, spaces: _Spaces, neurons: Ints) -> Iterator[_Layer]:
    """Group the neurons that sum by activation and by sources."""
    net = ctx.net
    sums = (net.aggregation_names == "sum") & (net.neurons.response == 1.0)
    for activation in np.unique(net.neurons.activation[neurons]):
        same = neurons[sums[neurons] & (net.neurons.activation[neurons] == activation)]
        row, read, weight = _connections(ctx, same)
        seen = spaces.of[read]
        lowest, highest = np.full(len(same), len(spaces.all)), np.full(len(same), NONE - 1)
        np.minimum.at(lowest, row, seen)
        np.maximum.at(highest, row, seen)
        idle = lowest > highest  # reads nothing: so may any position that stands in padding
        for number in np.unique(lowest[(lowest == highest) & (lowest != NONE)]).tolist():
            members = idle | (lowest == number) & (highest == number)
            of_them = members[row]
            space = spaces.all[number]
            matrix = Matrix.of(
                len(space.neurons),
                (np.cumsum(members) - 1)[row[of_them]],
                spaces.place[read[of_them]],
                weight[of_them],
                net.neurons.bias[same[members]],
            )
            yield _Layer(same[members], space, matrix)


def _connections(ctx: LoweringContext, neurons: Ints) -> tuple[Ints, Ints, Floats]:
    """Those whose weight is not 0: the position in `neurons`, the signal read, the weight."""
    row, edge = ctx.edges_into(neurons)
    weight = ctx.signals.weight[edge]
    there = weight != 0.0
    return row[there], ctx.signals.read[edge[there]], weight[there]


def _found(ctx: LoweringContext, layer: _Layer) -> SpatialBlock | None:
    """The convolution that a layer is, checked."""
    for sources in [*layer.space.shapes, None]:
        geometry = geometry_of(layer.matrix, sources)
        if geometry is not None:
            block = _block(layer, geometry)
            return block if _is_valid(ctx, block) else None
    return None


def _block(layer: _Layer, geometry: Geometry) -> SpatialBlock:
    return SpatialBlock(
        "Conv",
        layer.space.neurons.reshape(geometry.sources),
        layer.neurons.reshape(geometry.neurons),
        geometry.window,
        geometry.groups,
    )


def _is_valid(ctx: LoweringContext, block: SpatialBlock) -> bool:
    try:
        check_block(block, len(ctx.net.connections))
        shared_weights(ctx.net, ctx.signals, block)
    except (NetworkError, NotShared):
        return False  # too large, or a source that may overflow
    return True


def _planes(shape: Sizes) -> list[Sizes]:
    """The ways to read a shape without batch as [channels, height, width]."""
    if len(shape) == 3:
        return [shape]
    if len(shape) == 2:
        return [(1, *shape), (shape[0], 1, shape[1])]
    return []
