"""The finder of a Conv or a ConvTranspose whose kernel is computed.

Import makes a connection of each place that a tap stands over, which the tap gates. The places and
taps of all connections lie on a line along each axis, and its slopes are the strides and dilations.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np

from neat_onnx.lowering.registry import Proposal, proposes
from neat_onnx.network.genes import Ints, distinct
from neat_onnx.network.network import Network
from neat_onnx.operators.products.pairs import SumsOfProducts, activated, sums_of_products
from neat_onnx.passes.draft import make_node
from neat_onnx.passes.each_sample import for_each_sample

_LEAST_AXES = 3  # samples, channels, and space


@dataclass(frozen=True)
class _Slide:
    """How a window slides along one axis.

    Attributes:
        stride, dilation: from one position, and from one tap, to the next.
        begin: the padding before.
        count: the elements of the result.
    """

    stride: int
    dilation: int
    begin: int
    count: int


@proposes
def propose_computed_kernels(net: Network) -> Iterator[Proposal]:
    """Propose a Conv and a ConvTranspose for each two tensors that neurons sum products of."""
    for found in sums_of_products(net):
        ranks = {found.values.ndim, found.gates.ndim}
        biases = _biases(net, found) if len(ranks) == 1 and min(ranks) >= _LEAST_AXES else None
        if biases is None:
            continue
        for sums in _of_either_channels(found):
            if (attributes := _conv(net, sums)) is not None:
                yield _proposal(sums, "Conv", attributes, biases)
            if (attributes := _conv_transpose(net, sums)) is not None:
                yield _proposal(sums, "ConvTranspose", attributes, biases)


def _of_either_channels(sums: SumsOfProducts) -> list[SumsOfProducts]:
    """The sums; and where the gates have one sample, those with a kernel for each channel besides.

    A picture that is slid over another is the kernel of one channel, or of one group each.
    """
    samples, channels, *taps = sums.gates.shape
    if samples > 1 or channels == 1:
        return [sums]
    return [sums, replace(sums, gates=sums.gates.reshape(channels, 1, *taps))]


def _proposal(
    sums: SumsOfProducts, operator: str, attributes: Mapping[str, Any], biases: Sequence[Ints]
) -> Proposal:
    """The operator for each sample, with a bias that is an input if there is one."""
    tensors = dict(zip(("x", "w", "b"), (sums.values, sums.gates, *biases), strict=False))
    inner = {name: f"{name}_of_sample" for name in tensors}
    node = make_node(operator, inner.values(), ["y_of_sample"], attributes)
    nodes, constants, result = activated(sums, [node], "y_of_sample")
    return Proposal([for_each_sample(nodes, inner, {"y": result}, constants)], tensors, ["y"])


def _biases(net: Network, sums: SumsOfProducts) -> list[Ints] | None:
    """The input with a number for each channel, if the sums read one; None if they read anything
    else besides.
    """
    read = distinct(sums.addends)
    if not len(read):
        return []
    ports = (port for port in net.inputs if np.array_equal(np.sort(port.neurons), read))
    return [port.neurons for port in ports][:1] or None


class _Places:
    """Where the products of sums are, along the axes of both tensors.

    Attributes:
        sample, channel, space: the place of each value.
        outer, inner, taps: the place of each gate.
        sums: the sums.
    """

    def __init__(self, sums: SumsOfProducts) -> None:
        value = np.unravel_index(sums.value, sums.values.shape)
        gate = np.unravel_index(sums.gate, sums.gates.shape)
        self.sample, self.channel, *self.space = value
        self.outer, self.inner, *self.taps = gate
        self.sums = sums

    @cached_property
    def first(self) -> Ints:
        """The first product of each sum."""
        sums = self.sums
        return np.searchsorted(sums.row, np.arange(len(sums.neurons)))

    def of_sums(self, net: Network, channels: int) -> list[tuple[int, Ints]] | None:
        """Along each axis of space the size of an output that has all the sums, and the place in it
        of the sum of each product.
        """
        sums, rank = self.sums, self.sums.values.ndim
        for port in net.outputs:
            if len(port.shape) != rank or port.shape[:2] != (len(sums.values), channels):
                continue
            place = np.full(len(net), -1)
            place[port.neurons] = np.arange(len(port.neurons))
            at = place[sums.neurons][sums.row]
            if np.all(at >= 0):
                return [*zip(port.shape, np.unravel_index(at, port.shape), strict=True)][2:]
        return None


def _conv(net: Network, sums: SumsOfProducts) -> dict[str, Any] | None:
    """The attributes of the Conv that sums may be."""
    channels, (out, seen) = sums.values.shape[1], sums.gates.shape[:2]
    groups = channels // seen
    if not groups or channels % seen or out % groups:
        return None
    places = _Places(sums)
    if np.any(places.channel != places.outer // (out // groups) * seen + places.inner):
        return None
    return _attributes(net, places, out, groups, transposed=False)


def _conv_transpose(net: Network, sums: SumsOfProducts) -> dict[str, Any] | None:
    """The attributes of the ConvTranspose that sums may be."""
    channels, (seen, out) = sums.values.shape[1], sums.gates.shape[:2]
    places = _Places(sums)
    if channels != seen or np.any(places.channel != places.outer):
        return None
    read = distinct(sums.row * channels + places.channel) // channels
    groups = channels // int(np.bincount(read).max())
    return _attributes(net, places, out * groups, groups, transposed=True)


def _attributes(
    net: Network, places: _Places, channels: int, groups: int, *, transposed: bool
) -> dict[str, Any] | None:
    """The attributes of a window that are not as they are by default; None if there is none.

    Args:
        net: the network.
        places: of the products.
        channels: of the result.
        groups: of these channels.
        transposed: the windows give to the result, and are as many as the elements that are read.
    """
    stated, sums = places.of_sums(net, channels), places.sums
    sizes = zip(sums.values.shape[2:], sums.gates.shape[2:], strict=True)
    slides, ends = list[_Slide](), list[int]()
    for axis, (size, taps) in enumerate(sizes):
        place, tap = places.space[axis], places.taps[axis]
        if stated:
            count, at = stated[axis]
            line = _line(at, place, tap) if transposed else _line(place, at, tap)
            slide = None if line is None else _Slide(line[0], line[1], -line[2], count)
        elif transposed:
            slide = _slide_under(place, tap, places.first, sums.row, taps)
        else:
            slide = _slide_over(place, tap, places.first, sums.row)
        if slide is None:
            return None
        slides.append(slide)
        windows, under = (size, slide.count) if transposed else (slide.count, size)
        reach = (windows - 1) * slide.stride + (taps - 1) * slide.dilation + 1
        ends.append(reach - slide.begin - under)
    strides, dilations = [each.stride for each in slides], [each.dilation for each in slides]
    pads = [*(each.begin for each in slides), *(max(end, 0) for end in ends)]
    if min(*strides, *dilations) < 1 or min(pads) < 0:
        return None
    given: dict[str, Any] = {"strides": strides, "dilations": dilations, "group": groups}
    given = {name: value for name, value in given.items() if np.any(np.array(value) != 1)}
    if transposed and min(ends) < 0:
        given["output_padding"] = [max(-end, 0) for end in ends]
    return given | ({"pads": pads} if any(pads) else {})


def _slide_over(place: Ints, tap: Ints, first: Ints, row: Ints) -> _Slide | None:
    """The window whose positions are sums: its taps stand at p · stride + k · dilation - begin.

    Args:
        place, tap: of each product.
        first: the first product of each sum.
        row: the sum of each product.
    """
    apart = tap - tap[first][row]
    steps = distinct((place - place[first][row])[apart != 0] // apart[apart != 0])
    if len(steps) > 1:
        return None
    dilation = int(steps[0]) if len(steps) else 1
    starts = place - dilation * tap
    if np.any(starts != starts[first][row]):
        return None
    different = distinct(starts)
    stride = gcd(*np.diff(different).tolist()) or 1
    span = int(different[-1] - different[0])
    return _Slide(stride, dilation, -int(different[0]), span // stride + 1)


def _slide_under(place: Ints, tap: Ints, first: Ints, row: Ints, kernel: int) -> _Slide | None:
    """The window that positions are read of: its taps give to i · stride + k · dilation - begin.

    Args:
        place, tap: of each product.
        first: the first product of each sum.
        row: the sum of each product.
        kernel: how many taps there are.
    """
    apart, away = tap - tap[first][row], place - place[first][row]
    its = np.flatnonzero(away)
    stride, dilation = kernel, 1
    if len(its):
        common = gcd(int(apart[its[0]]), int(away[its[0]]))
        stride, dilation = int(abs(apart[its[0]])) // common, int(abs(away[its[0]])) // common
    reached = place * stride + tap * dilation
    if np.any(reached != reached[first][row]):
        return None
    least, most = int(reached.min()), int(reached.max())
    return _Slide(stride, dilation, least, most - least + 1)


def _line(result: Ints, *columns: Ints) -> list[int] | None:
    """The whole numbers by which columns are multiplied, and the last one that is added, to give a
    result; None if no such numbers do. A column of one number is multiplied by 1.
    """
    varying = [bool(np.any(column != column[0])) for column in columns]
    rest = result - sum(
        column for column, varies in zip(columns, varying, strict=True) if not varies
    )
    ones = np.ones(len(result), np.int64)
    table = np.stack([*(each for each, v in zip(columns, varying, strict=True) if v), ones])
    found = np.rint(np.linalg.lstsq(table @ table.T, table @ rest)[0]).astype(np.int64)
    if np.any(found @ table != rest):
        return None
    factors = iter(found.tolist())
    return [next(factors) if varies else 1 for varies in varying] + [int(found[-1])]
