"""Convolutions found in the weights of layers, without anybody saying where they are.

A layer is the neurons of one level that sum, share an activation, and read the same space: an input
port, the neurons of a block, or the other neurons of the level before. Both sides stand in C order
of channel, row and column; how many of each there are is found, unless a port or a block tells.

A matrix of weights is a convolution over one axis of its sources and neurons exactly if every
weight repeats one position and one stride further, wherever both are inside; over two axes, if it
does so along each. So the axes are looked for one by one, the innermost first, among all divisors
of the sizes, with a few of the weights at first and with all of them in the end.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.genes import NONE, Bools, Floats, Ints
from neat_onnx.network.schedule import schedule
from neat_onnx.network.spatial import SpatialBlock, check_block
from neat_onnx.network.window import Sizes, Window
from neat_onnx.operators.export.spatial.weights import NotShared, shared_weights

_MAX_STRIDE = 32
_MAX_CHECKS = 200
_SAMPLE = 128
_CLEARLY = 1.5  # times fewer weights than connections


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


@dataclass(eq=False)
class _Spaces:
    """Neurons that a window may slide over.

    Attributes:
        all: of each space its neurons, and the shapes [channels, height, width] that are known.
        of, place: for each signal, the space that it is in, or NONE, and where it stands there.
    """

    count: int
    all: list[tuple[Ints, list[Sizes]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.of: Ints = np.full(self.count, NONE, np.int64)
        self.place: Ints = np.full(self.count, NONE, np.int64)

    def add(self, neurons: Ints, shape: Sizes = ()) -> None:
        self.of[neurons] = len(self.all)
        self.place[neurons] = np.arange(len(neurons))
        self.all.append((neurons, _shapes(shape)))


@dataclass(frozen=True, eq=False)
class _Matrix:
    """A layer: the weights that are not 0, sorted by neuron and source, and the biases.

    Attributes:
        width: how many sources there are.
        row, column: places of the neuron and the source, (n,).
        weight: (n,).
        bias: one for each neuron.
    """

    width: int
    row: Ints
    column: Ints
    weight: Floats
    bias: Floats

    def __len__(self) -> int:
        return len(self.weight)

    @classmethod
    def of(cls, width: int, row: Ints, column: Ints, weight: Floats, bias: Floats) -> "_Matrix":
        """A matrix from connections in any order; those between the same two neurons add up."""
        key, at = np.unique(row * width + column, return_inverse=True)
        total = np.bincount(at.reshape(-1), weight, len(key)).astype(np.float64)
        there = total != 0.0
        return cls(width, key[there] // width, key[there] % width, total[there], bias)

    def repeats(self, which: Ints, rows: int, columns: int) -> Bools:
        """Whether these weights stand once more, so many rows and columns further."""
        wanted = self._key[which] + rows * self.width + columns
        at = np.minimum(np.searchsorted(self._key, wanted), len(self) - 1)
        same: Bools = (self._key[at] == wanted) & (self.weight[at] == self.weight[which])
        return same

    @cached_property
    def _key(self) -> Ints:
        return self.row * self.width + self.column


@dataclass(frozen=True, eq=False)
class _Layer:
    """Neurons that may be a convolution over a space."""

    neurons: Ints
    sources: Ints
    shapes: list[Sizes]
    matrix: _Matrix


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
            sources, shapes = spaces.all[number]
            matrix = _Matrix.of(
                len(sources),
                (np.cumsum(members) - 1)[row[of_them]],
                spaces.place[read[of_them]],
                weight[of_them],
                net.neurons.bias[same[members]],
            )
            yield _Layer(same[members], sources, shapes, matrix)


def _connections(ctx: LoweringContext, neurons: Ints) -> tuple[Ints, Ints, Floats]:
    """Those whose weight is not 0: the position in `neurons`, the signal read, the weight."""
    row, edge = ctx.edges_into(neurons)
    weight = ctx.signals.weight[edge]
    there = weight != 0.0
    return row[there], ctx.signals.read[edge[there]], weight[there]


def _found(ctx: LoweringContext, layer: _Layer) -> SpatialBlock | None:
    """The convolution that a layer is; none if it is too large, or a source may overflow."""
    for shape in [*layer.shapes, None]:
        block = _convolution(layer, shape)
        if block is not None:
            try:
                check_block(block, len(ctx.net.connections))
                shared_weights(ctx.net, ctx.signals, block)
            except (NetworkError, NotShared):
                return None
            return block
    return None


def _shapes(shape: Sizes) -> list[Sizes]:
    """The ways to read a shape without batch as [channels, height, width]."""
    if len(shape) == 3:
        return [shape]
    if len(shape) == 2:
        return [(1, *shape), (shape[0], 1, shape[1])]
    return []


# --- the simplest convolution that a matrix is ----------------------------------------------------


@dataclass(frozen=True)
class _Axis:
    """One axis of the space: so many positions over so many places, and how far apart the weights
    of neighbours are in the rows and columns of the matrix.
    """

    positions: int
    size: int
    stride: int
    rows: int
    columns: int

    @property
    def sharing(self) -> int:
        """The most positions that a weight can stand at."""
        return min(self.positions, -(-self.size // self.stride))


def _convolution(layer: _Layer, shape: Sizes | None) -> SpatialBlock | None:
    """The simplest convolution that a layer is; None if it is none, or not worth calling one.

    It is worth it if its weights are clearly fewer than the connections.

    Args:
        layer: the layer.
        shape: of its sources, [channels, height, width], if it is known.
    """
    matrix = layer.matrix
    alike = _neurons_alike(matrix)
    if alike == 1 or not _may_share(matrix):
        return None
    best = None
    for down, across in _planes(matrix, alike, shape)[:_MAX_CHECKS]:
        if best and down.sharing * across.sharing * _weights(best) < len(matrix):
            break  # this one would have more weights, and all that follow
        if _holds(matrix, down):
            found = _block(layer, down, across)
            if best is None or _oddity(found) < _oddity(best):
                best = found
    return best if best and _weights(best) * _CLEARLY <= len(matrix) else None


def _weights(block: SpatialBlock) -> int:
    return math.prod(block.weight_shape)


def _oddity(block: SpatialBlock) -> tuple[object, ...]:
    """Simple ones first: few weights, a small window, square, little padding."""
    sources, neurons, window = block.sources.shape, block.neurons.shape, block.window
    square = len({*sources[1:]}) == len({*neurons[1:]}) == 1
    area = math.prod(window.kernel)
    return _weights(block), area, not square, sum(window.pads), sources, neurons


def _neurons_alike(matrix: _Matrix) -> int:
    """The most positions there can be: the neurons of a channel have one bias."""
    changes = np.flatnonzero(np.diff(matrix.bias)) + 1
    return math.gcd(len(matrix.bias), *changes.tolist())


def _may_share(matrix: _Matrix) -> bool:
    """Whether weights repeat at all, some neuron reads several others, and not all are one."""
    count = len(matrix)
    if count < 2 or np.max(np.bincount(matrix.row)) < 2:
        return False
    different = len(np.unique(matrix.weight))
    full = count == len(matrix.bias) * matrix.width
    return different * _CLEARLY <= count and not (full and different == 1)


def _planes(matrix: _Matrix, alike: int, sources: Sizes | None) -> list[tuple[_Axis, _Axis]]:
    """Two axes each: all weights repeat along the inner one, and a sample of them along the outer.

    Those come first whose weights may stand at the most positions.
    """
    found = []
    sizes = [sources[2]] if sources else _divisors(matrix.width)
    for across in _axes(matrix, 1, 1, _divisors(alike), sizes):
        if not _holds(matrix, across):
            continue
        rows, columns = across.positions, across.size
        sizes = [sources[1]] if sources else _divisors(matrix.width // columns)
        for down in _axes(matrix, rows, columns, _divisors(alike // rows), sizes):
            found.append((down.sharing * across.sharing, down, across))
    found.sort(key=lambda plane: -plane[0])
    return [(down, across) for sharing, down, across in found if sharing > 1]


def _axes(
    matrix: _Matrix, rows: int, columns: int, counts: list[int], sizes: list[int]
) -> list[_Axis]:
    """The axes along which a sample of the weights repeats, and the axes of a single position.

    Args:
        rows, columns: those between neighbours along the axis.
        counts, sizes: the positions and places that there may be.
    """
    count, size = (side.reshape(-1, 1) for side in np.meshgrid(counts, sizes, indexing="ij"))
    some = np.linspace(0, len(matrix) - 1, min(len(matrix), _SAMPLE)).astype(np.int64)
    last = matrix.row[some] // rows % count == count - 1
    place = matrix.column[some] // columns % size
    found = []
    for stride in range(1, min(max([2, *sizes]), _MAX_STRIDE + 1)):
        excused = matrix.repeats(some, rows, stride * columns) | last | (place >= size - stride)
        shares = (stride < size) & (count > 1) | (stride == 1) & (count == 1)
        found += [
            _Axis(int(count[k, 0]), int(size[k, 0]), stride, rows, columns)
            for k in np.flatnonzero(np.all(excused, axis=1) & shares[:, 0]).tolist()
        ]
    return found


def _holds(matrix: _Matrix, axis: _Axis) -> bool:
    """Whether all weights repeat along an axis."""
    if axis.positions == 1:
        return True
    position = matrix.row // axis.rows % axis.positions
    place = matrix.column // axis.columns % axis.size
    ahead = (position < axis.positions - 1) & (place < axis.size - axis.stride)
    behind = (position > 0) & (place >= axis.stride)
    # each of those ahead has one behind it: if there are as many, none stands alone
    return np.count_nonzero(ahead) == np.count_nonzero(behind) and bool(
        np.all(matrix.repeats(np.flatnonzero(ahead), axis.rows, axis.stride * axis.columns))
    )


def _block(layer: _Layer, down: _Axis, across: _Axis) -> SpatialBlock:
    """The convolution along two axes that hold."""
    matrix = layer.matrix
    positions = (down.positions, across.positions)
    space = (down.size, across.size)
    kernel, strides, dilations, begin, end = zip(
        *(_taps(matrix, axis) for axis in (down, across)), strict=True
    )
    sources, neurons = layer.sources.reshape(-1, *space), layer.neurons.reshape(-1, *positions)
    out, channel = matrix.row // math.prod(positions), matrix.column // math.prod(space)
    groups = _groups(out, channel, len(neurons), len(sources))
    return SpatialBlock(
        "Conv", sources, neurons, Window(kernel, strides, dilations, begin, end), groups
    )


def _taps(matrix: _Matrix, axis: _Axis) -> tuple[int, int, int, int, int]:
    """The window along an axis: taps, stride, dilation, padding before and after."""
    position = matrix.row // axis.rows % axis.positions
    place = matrix.column // axis.columns % axis.size
    offsets = np.unique(place - position * axis.stride)
    first, last = int(offsets[0]), int(offsets[-1])
    dilation = int(np.gcd.reduce(np.diff(offsets))) or max(first, 1)
    # taps of weight 0 stand in for padding below 0: before the first tap, and after the last one
    # if another position would fit there
    first -= -(-max(first, 0) // dilation) * dilation
    room = axis.size - 1 - last - (axis.positions - 1) * axis.stride
    stride = axis.stride if axis.positions > 1 else max(room + 1, 1)
    more = -(-max(room - stride + 1, 0) // dilation) * dilation
    kernel = (last + more - first) // dilation + 1
    return kernel, stride, dilation, -first, max(more - room, 0)


def _groups(out: Ints, channel: Ints, outs: int, channels: int) -> int:
    """The most groups of channels that do not see each other."""
    return next(
        groups
        for groups in reversed(_divisors(math.gcd(outs, channels)))
        if np.array_equal(out // (outs // groups), channel // (channels // groups))
    )


def _divisors(number: int) -> list[int]:
    return [k for k in range(1, number + 1) if number % k == 0]
