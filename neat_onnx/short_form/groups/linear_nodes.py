"""Linear nodes: each element of the result is a weighted sum of elements of the inputs."""

from collections.abc import Callable, Sequence
from enum import Enum
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.columns import broadcast, broadcast_of, places_of, reduced_to
from neat_onnx.short_form.groups.graph_reader import Floats, GraphReader, Ints

_MAX_ELEMENTS = 1 << 22  # in the windows of a Conv


class Kind(Enum):
    """How a node treats elements."""

    MOVES = "hands them on"
    SCALES = "multiplies each by a number"
    ADDS = "adds a number, or an element of another tensor"
    SUMS = "adds them as they are"
    WEIGHS = "adds them with weights"


class Terms(NamedTuple):
    """Terms that come from one tensor.

    Attributes:
        tensor: its name.
        rows: the element of the result that each term is added to.
        places: the element of the tensor that each is a multiple of.
        weights: the factors.
    """

    tensor: str
    rows: Ints
    places: Ints
    weights: Floats


class Linear(NamedTuple):
    """How the elements of the result of a node are sums.

    Attributes:
        kind: how the node treats elements.
        terms: the terms of all elements, by the tensor that they come from.
        biases: the number that is added to each element, or to all.
    """

    kind: Kind
    terms: Sequence[Terms]
    biases: Floats | float = 0.0


def linear(graph: GraphReader, node: Node, name: str) -> Linear | None:
    """How the elements of a result of a node are sums; None if that is not known."""
    if graph.draft.axes(name) is None:
        return None
    found = (rule for operators, rule in _RULES if is_one_of(node, *operators))
    return next(found, _moved)(graph, node, name)


def most_terms(graph: GraphReader, node: Node) -> int:
    """The most elements that a product by a constant matrix adds; 0 of other nodes."""
    by_columns, by_rows = graph.factor(node, 1), graph.weights(node)
    matrix = by_rows if by_columns is None else by_columns.T
    return 0 if matrix is None else int(np.count_nonzero(matrix, axis=1).max(initial=0))


def _moved(graph: GraphReader, node: Node, name: str) -> Linear | None:
    places = places_of(graph.draft, node)
    return None if places is None else Linear(Kind.MOVES, [_each(node.input[0], places)])


def _copied(graph: GraphReader, node: Node, name: str) -> Linear | None:
    places = [places_read(graph, read, name) for read in node.input]
    kind = Kind.ADDS if node.input[1:] else Kind.MOVES
    terms = [_each(read, at) for read, at in zip(node.input, places, strict=True) if at is not None]
    return Linear(kind, terms) if len(terms) == len(places) else None


def _cut(graph: GraphReader, node: Node, name: str) -> Linear | None:
    axis, inside = node.given_attributes.get("axis", 0), graph.draft.axes(node.input[0])
    widths = [(graph.draft.axes(each) or ())[axis - 1 : axis] for each in node.output]
    if axis < 1 or inside is None or () in widths:
        return None
    starts = np.cumsum([width for (width,) in widths])
    table = np.arange(prod(inside)).reshape(inside)
    part = np.split(table, starts[:-1], axis - 1)[node.output.index(name)]
    return Linear(Kind.MOVES, [_each(node.input[0], part.ravel())])


def _joined(graph: GraphReader, node: Node, name: str) -> Linear | None:
    axis, inside = node.given_attributes["axis"], [graph.draft.axes(each) for each in node.input]
    if axis < 1 or None in inside:
        return None
    tables = [np.full(each or (), number) for number, each in enumerate(inside)]
    source = np.concatenate(tables, axis - 1).ravel()
    rows = [np.flatnonzero(source == number) for number in range(len(tables))]
    terms = [
        Terms(read, each, np.arange(len(each)), np.ones(len(each)))
        for read, each in zip(node.input, rows, strict=True)
    ]
    return Linear(Kind.MOVES, terms)


def _added(graph: GraphReader, node: Node, name: str) -> Linear | None:
    if is_one_of(node, "Sub") and graph.is_number(node.input[0]):
        return None  # a function of each element, as 1 - x
    terms, biases = list[Terms](), np.zeros(1)
    signs = (1.0, -1.0 if is_one_of(node, "Sub") else 1.0)
    for read, sign in zip(node.input, signs, strict=True):
        numbers, places = _numbers(graph, read, name), places_read(graph, read, name)
        if numbers is not None:
            biases = biases + sign * numbers
        elif places is not None:
            terms.append(_each(read, places, sign))
        else:
            return None
    return Linear(Kind.ADDS, terms, biases)


def _scaled(graph: GraphReader, node: Node, name: str) -> Linear | None:
    for read, factor in (node.input, node.input[::-1]):
        numbers, places = _numbers(graph, factor, name), places_read(graph, read, name)
        if numbers is not None and places is not None:
            return Linear(Kind.SCALES, [_each(read, places, numbers)])
    return None


def _summed(graph: GraphReader, node: Node, name: str) -> Linear | None:
    rows = reduced_to(graph.draft, node)
    if rows is None:
        return None
    weight = (1 + int(rows.max())) / len(rows) if is_one_of(node, "ReduceMean") else 1.0
    every = np.arange(len(rows))
    return Linear(Kind.SUMS, [Terms(node.input[0], rows, every, np.full(len(rows), weight))])


def _weighted(graph: GraphReader, node: Node, name: str) -> Linear | None:
    weights = graph.weights(node)
    biases = [_numbers(graph, read, name) for read in node.input[2:]]
    if weights is None or any(each is None for each in biases):
        return None
    rows, places = np.nonzero(weights)
    terms = Terms(node.input[0], rows, places, weights[rows, places])
    return Linear(Kind.WEIGHS, [terms], sum(each for each in biases if each is not None))


def _multiplied(graph: GraphReader, node: Node, name: str) -> Linear | None:
    """The products of the last axis of a tensor by the columns of a matrix."""
    matrix, sizes = graph.factor(node, 1), graph.draft.axes(name)
    if matrix is None or not sizes:
        return None
    places, columns = np.nonzero(matrix)
    others = np.arange(prod(sizes[:-1]))[:, None]
    rows, places = (
        (others * size + each).ravel()
        for size, each in zip(matrix.shape[::-1], (columns, places), strict=True)
    )
    weights = np.tile(matrix[matrix != 0], len(others))
    return Linear(Kind.WEIGHS, [Terms(node.input[0], rows, places, weights)])


def _convolved(graph: GraphReader, node: Node, name: str) -> Linear | None:
    kernel, *biases = (graph.constant(read) for read in node.input[1:])
    windows = _windows(graph, node)
    if kernel is None or windows is None or None in biases:
        return None
    groups, taps = len(windows), len(kernel.dims) - 1
    places = windows[:, None]  # group, output channel, window, input channel, tap
    weights = np.asarray(kernel.values, np.float64).reshape(groups, -1, 1, *kernel.dims[1:])
    whole = np.broadcast_shapes(places.shape, weights.shape)
    if prod(whole) > _MAX_ELEMENTS:
        return None
    rows = np.arange(prod(whole[:3])).reshape(*whole[:3], *[1] * taps)
    kept = np.broadcast_to(places >= 0, whole) & (weights != 0)
    terms = Terms(
        node.input[0],
        np.broadcast_to(rows, whole)[kept],
        np.broadcast_to(places, whole)[kept],
        np.broadcast_to(weights, whole)[kept],
    )
    shifts = sum(np.asarray(each.values, np.float64) for each in biases if each is not None)
    shifts = np.repeat(np.zeros(kernel.dims[0]) + shifts, whole[2])
    return Linear(Kind.WEIGHS, [terms], shifts)


def _windows(graph: GraphReader, node: Node) -> Ints | None:
    """The places in the windows of a Conv, -1 in its padding, by the group, the window,
    the channel and the axes of the kernel.
    """
    given, inside = node.given_attributes, graph.draft.axes(node.input[0])
    kernel = graph.constant(node.input[1])
    if inside is None or kernel is None or given.get("auto_pad", "NOTSET") != "NOTSET":
        return None
    groups, count = given.get("group", 1), len(kernel.dims) - 2
    if len(inside) != count + 1:
        return None
    pads = given.get("pads", (0,) * 2 * count)
    steps, gaps = (given.get(name, (1,) * count) for name in ("strides", "dilations"))
    around = [(0, 0), *zip(pads[:count], pads[count:], strict=True)]
    table = np.pad(np.arange(prod(inside)).reshape(inside), around, constant_values=-1)
    spans = [(size - 1) * gap + 1 for size, gap in zip(kernel.dims[2:], gaps, strict=True)]
    if any(span > size for span, size in zip(spans, table.shape[1:], strict=True)):
        return None
    views = sliding_window_view(table, spans, tuple(range(1, count + 1)))
    views = views[:, *(slice(None, None, step) for step in (*steps, *gaps))]
    views = views.reshape(groups, inside[0] // groups, -1, *kernel.dims[2:])
    return np.moveaxis(views, 1, 2)


def _numbers(graph: GraphReader, name: str, of: str) -> Floats | None:
    """A constant as numbers for the elements of a tensor, one or as many."""
    tensor, axes = graph.constant(name), graph.draft.axes(of) or ()
    if tensor is None:
        return None
    numbers = np.asarray(tensor.values, np.float64)
    if tensor.size == 1:
        return numbers.ravel()
    places = broadcast(tensor.dims, axes)
    return None if places is None else numbers.ravel()[places]


def places_read(graph: GraphReader, name: str, result: str) -> Ints | None:
    """The element of a computed tensor that each element of a result reads, if it is known."""
    axes = graph.draft.axes(result)
    is_known = axes is not None and name not in graph.draft.tensors
    return broadcast_of(graph.draft, name, axes) if axes is not None and is_known else None


def _each(name: str, places: Ints, weights: Floats | float = 1.0) -> Terms:
    """One term for each element."""
    return Terms(name, np.arange(len(places)), places, np.full(len(places), 1.0) * weights)


Rule = Callable[[GraphReader, Node, str], Linear | None]
_RULES: tuple[tuple[tuple[str, ...], Rule], ...] = (
    (("Identity", "Sum"), _copied),
    (("Split",), _cut),
    (("Concat",), _joined),
    (("Add", "Sub"), _added),
    (("Mul",), _scaled),
    (("ReduceSum", "ReduceMean"), _summed),
    (("Gemm",), _weighted),
    (("MatMul",), _multiplied),
    (("Conv",), _convolved),
)
