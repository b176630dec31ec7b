"""Guess the convolution that a matrix of weights is, from the places where its weights repeat.

A matrix is a convolution over one axis of its sources and neurons exactly if every weight repeats
one position and one stride further, wherever both are inside; over two axes, if it does so along
each. So the axes are looked for one by one, the innermost first, among all divisors of the sizes,
with a few of the weights at first and with all of them in the end.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.network.window import Sizes, Window

_MAX_STRIDE = 32
_MAX_CHECKS = 200
_SAMPLE = 128
_CLEARLY = 1.5


@dataclass(frozen=True, eq=False)
class Matrix:
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
    def of(cls, width: int, row: Ints, column: Ints, weight: Floats, bias: Floats) -> "Matrix":
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


@dataclass(frozen=True)
class Geometry:
    """A convolution: the shapes [channels, height, width] of both sides, the window, the groups."""

    sources: Sizes
    neurons: Sizes
    window: Window
    groups: int

    @property
    def weights(self) -> int:
        """How many there are."""
        return self.neurons[0] * self.sources[0] // self.groups * math.prod(self.window.kernel)

    @property
    def oddity(self) -> tuple[object, ...]:
        """Simple ones first: few weights, a small window, square, little padding."""
        square = len({*self.sources[1:]}) == len({*self.neurons[1:]}) == 1
        pads = sum(self.window.pads)
        area = math.prod(self.window.kernel)
        return self.weights, area, not square, pads, self.sources, self.neurons


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


def geometry_of(matrix: Matrix, sources: Sizes | None) -> Geometry | None:
    """The simplest convolution that the matrix is; None if it is none, or not worth calling one.

    It is worth it if its weights are clearly fewer than the connections.

    Args:
        sources: their shape [channels, height, width], if it is known.
    """
    alike = _neurons_alike(matrix)
    if alike == 1 or not _may_share(matrix):
        return None
    best = None
    for down, across in _planes(matrix, alike, sources)[:_MAX_CHECKS]:
        if best and down.sharing * across.sharing * best.weights < len(matrix):
            break  # this one would have more weights, and all that follow
        if _holds(matrix, down):
            found = _geometry(matrix, down, across)
            if best is None or found.oddity < best.oddity:
                best = found
    return best if best and best.weights * _CLEARLY <= len(matrix) else None


def _neurons_alike(matrix: Matrix) -> int:
    """The most positions there can be: the neurons of a channel have one bias."""
    changes = np.flatnonzero(np.diff(matrix.bias)) + 1
    return math.gcd(len(matrix.bias), *changes.tolist())


def _may_share(matrix: Matrix) -> bool:
    """Whether weights repeat at all, some neuron reads several others, and not all are one."""
    count = len(matrix)
    if count < 2 or np.max(np.bincount(matrix.row)) < 2:
        return False
    different = len(np.unique(matrix.weight))
    full = count == len(matrix.bias) * matrix.width
    return different * _CLEARLY <= count and not (full and different == 1)


def _planes(matrix: Matrix, alike: int, sources: Sizes | None) -> list[tuple[_Axis, _Axis]]:
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
    matrix: Matrix, rows: int, columns: int, counts: list[int], sizes: list[int]
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


def _holds(matrix: Matrix, axis: _Axis) -> bool:
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


def _geometry(matrix: Matrix, down: _Axis, across: _Axis) -> Geometry:
    """The convolution along two axes that hold."""
    positions = (down.positions, across.positions)
    space = (down.size, across.size)
    out = matrix.row // math.prod(positions)
    channel = matrix.column // math.prod(space)
    kernel, strides, dilations, begin, end = zip(
        *(_taps(matrix, axis) for axis in (down, across)), strict=True
    )
    outs, channels = len(matrix.bias) // math.prod(positions), matrix.width // math.prod(space)
    return Geometry(
        (channels, *space),
        (outs, *positions),
        Window(kernel, strides, dilations, begin, end),
        _groups(out, channel, outs, channels),
    )


def _taps(matrix: Matrix, axis: _Axis) -> tuple[int, int, int, int, int]:
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
