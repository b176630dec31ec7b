"""Convolutions found in the weights of layers, without anybody saying where they are.

A layer is the neurons of one level that sum, share an activation, and read one space: an input
port, the neurons of a block, or the level before. Both sides stand in C order of channel, row and
column.

Its matrix is a convolution exactly if each weight repeats one position and one stride further,
along both axes, wherever both are inside.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.genes import Floats, Ints, marked, place_among
from neat_onnx.network.schedule import Schedule, schedule
from neat_onnx.network.spatial import SpatialBlock, check_block
from neat_onnx.network.window import Sizes, Window
from neat_onnx.operators.export.spatial.weights import NotShared, shared_weights

_MAX_STRIDE = 8
_MAX_ELEMENTS = 1 << 24  # of a matrix that is looked at
_CLEARLY = 1.5  # times fewer weights than connections


def in_order(outputs: Ints, plan: Schedule, level: int) -> Ints:
    """The neurons of a level: outputs in the order of their ports, others in that of the genome."""
    neurons = plan.levels[level]
    if not np.all(np.isin(neurons, outputs)):
        return neurons
    ordered: Ints = outputs[np.sort(np.unique(outputs, return_index=True)[1])]
    return ordered[np.isin(ordered, neurons)]


def inferred_blocks(ctx: LoweringContext, known: Sequence[SpatialBlock]) -> Iterator[SpatialBlock]:
    """Convolutions among the neurons that no known block has; each one holds."""
    net, plan = ctx.net, schedule(ctx.net)
    spaces = [(port.neurons, port.shape) for port in net.inputs]
    spaces += [(block.neurons.ravel(), block.neurons.shape) for block in known]
    taken = marked(len(net), *(block.neurons for block in known))
    sums = (net.aggregation_names == "sum") & (net.neurons.response == 1.0) & ~taken
    for level in range(1, plan.depth + 1):
        members, rest = in_order(net.output_neurons, plan, level), [np.empty(0, np.int64)]
        for activation in np.unique(net.neurons.activation[members]):
            layer = members[sums[members] & (net.neurons.activation[members] == activation)]
            block = _convolution(ctx, layer, spaces)
            if block is None:
                rest.append(layer)
            else:
                yield block
                spaces.append((layer, block.neurons.shape))
        spaces.append((members[np.isin(members, np.concatenate(rest))], ()))


def _convolution(
    ctx: LoweringContext, layer: Ints, spaces: Sequence[tuple[Ints, Sizes]]
) -> SpatialBlock | None:
    """The convolution of the fewest weights that a layer is over the space that it reads."""
    row, read, weight = ctx.inputs_of(layer)
    there = weight != 0.0
    row, read, weight = row[there], read[there], weight[there]
    space = next((each for each in spaces if np.all(np.isin(read, each[0]))), None)
    if space is None or not len(read) or len(layer) * len(space[0]) > _MAX_ELEMENTS:
        return None
    sources, shape = space
    place = place_among(sources, ctx.signals.count)
    matrix = np.zeros((len(layer), len(sources)))
    np.add.at(matrix, (row, place[read]), weight)
    if len(np.unique(weight)) * _CLEARLY > len(weight):
        return None
    nonzero = tuple(at.astype(np.int64) for at in np.nonzero(matrix))
    most = len(nonzero[0]) / _CLEARLY
    for shapes in ([shape] if len(shape) == 3 else [], _shapes(len(sources))):
        found: list[SpatialBlock] = []
        for sizes in sorted(shapes):  # those of few channels first, whose weights are few
            fewest = min([most, *(math.prod(each.weight_shape) for each in found)])
            found += _blocks(matrix, nonzero, layer, sources.reshape(sizes), fewest)
        for block in sorted(found, key=_oddity):
            try:
                check_block(block, len(ctx.net.connections))
                shared_weights(ctx.net, ctx.signals, block)
            except (NetworkError, NotShared):
                continue
            return block
    return None


def _oddity(block: SpatialBlock) -> tuple[object, ...]:
    """Simple ones first: few weights, a small window, square, little padding."""
    sources, neurons = block.sources.shape, block.neurons.shape
    square = len({*sources[1:]}) == len({*neurons[1:]}) == 1
    area, weights = math.prod(block.window.kernel), math.prod(block.weight_shape)
    return weights, area, not square, sum(block.window.pads), sources, neurons


def _shapes(count: int) -> Iterator[Sizes]:
    """All ways to read so many sources as [channels, height, width]."""
    divisors = [size for size in range(1, count + 1) if count % size == 0]
    for height, width in itertools.product(divisors, divisors):
        if count % (height * width) == 0:
            yield count // (height * width), height, width


def _blocks(
    matrix: Floats, nonzero: tuple[Ints, ...], layer: Ints, sources: Ints, fewest: float
) -> Iterator[SpatialBlock]:
    """The convolutions of as few weights that a matrix may be over sources of a shape."""
    (row, column), (channels, height, width) = nonzero, sources.shape
    rows = matrix.reshape(len(matrix), channels * height, width)
    for across, right in _steps(rows, width, len(row) / fewest / height):
        # [out and y, x, channel and j, i], so that the axes of a step down are the outer ones
        planes = matrix.reshape(-1, across * channels, height, width).swapaxes(2, 3)
        beside = len(row) / fewest / min(across, -(-width // right))
        for down, below in _steps(planes, height, beside):
            channel, i, j = column // (height * width), column // width % height, column % width
            out, y, x = row // (across * down), row // across % down, row % across
            along = _taps(y, i, down, height, below), _taps(x, j, across, width, right)
            outs = len(layer) // (across * down)
            groups = next(
                count
                for count in range(np.gcd(outs, channels), 0, -1)
                if outs % count == channels % count == 0
                and np.array_equal(out // (outs // count), channel // (channels // count))
            )
            kernel, strides, dilations, begin, end = zip(*along, strict=True)
            window = Window(kernel, strides, dilations, begin + end)
            block = SpatialBlock("Conv", sources, layer.reshape(-1, down, across), window, groups)
            if math.prod(block.weight_shape) <= fewest:
                fewest = math.prod(block.weight_shape)
                yield block


def _steps(matrix: Floats, size: int, least: float) -> Iterator[tuple[int, int]]:
    """The numbers of positions, and the strides, along which [neurons, …, sizes] repeats, and a
    weight stands at `least` so many positions.
    """
    counts = [k for k in range(min(len(matrix), 2 * size), 1, -1) if len(matrix) % k == 0]
    for stride in range(1, min(size, _MAX_STRIDE + 1)):
        for positions in counts:
            shared = min(positions, -(-size // stride)) >= least
            if shared and _repeats(matrix.reshape(-1, positions, *matrix.shape[1:]), stride):
                yield positions, stride
    if least <= 1:
        yield 1, 1


def _repeats(matrix: Floats, stride: int) -> bool:
    """Whether [out, positions, …, sizes] is the same one position and one stride further."""
    return all(
        np.array_equal(part[:, :-1, ..., :-stride], part[:, 1:, ..., stride:])
        for part in (matrix[:1, :2], matrix[:1], matrix)  # the first ones refuse nearly all
    )


def _taps(
    position: Ints, place: Ints, positions: int, size: int, stride: int
) -> tuple[int, int, int, int, int]:
    """The window along an axis, of the places of weights: taps, stride, dilation, padding."""
    offsets = place - position * stride
    first, last = int(offsets.min()), int(offsets.max())
    distances = np.flatnonzero(np.bincount(offsets - first))
    dilation = int(np.gcd.reduce(distances)) or max(first, 1)
    # taps of weight 0 stand in for padding below 0: before the first tap, and after the last one
    # if another position would fit there
    first -= -(-max(first, 0) // dilation) * dilation
    room = size - 1 - last - (positions - 1) * stride
    stride = stride if positions > 1 else max(room + 1, 1)
    more = -(-max(room - stride + 1, 0) // dilation) * dilation
    kernel = (last + more - first) // dilation + 1
    return kernel, stride, dilation, -first, max(more - room, 0)
