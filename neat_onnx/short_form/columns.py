"""Nodes whose elements each come from known elements of other tensors.

The elements of each sample are counted as in a flat tensor, whatever its axes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from neat_onnx.model import Node, Tensor
from neat_onnx.passes.draft import Draft, copied, is_one_of
from neat_onnx.passes.elementwise import is_elementwise

REDUCTIONS = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
)  # fmt: skip
"""Operators that make one element of several along axes."""
_PAIR = 2  # elements
FLAT = 2
"""The axes of a flat tensor, samples and features; one number may have as many."""
_OF_PAIRS = {"ReduceSum": "Add", "ReduceMax": "Max", "ReduceMin": "Min", "ReduceProd": "Mul"}

Sizes = tuple[int, ...]
"""The sizes of a tensor's axes behind the batch."""
Axes = tuple[int, ...]
"""The numbers of axes of a tensor, the batch being 0."""
Places = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
"""Which elements of each sample of a tensor, in their order."""
Part = tuple[str, Places | None]
"""The name of a tensor, and places in it; None for the tensor as it is, in its axes."""


@dataclass(frozen=True)
class Picked:
    """Elements of one tensor in another order, each once, several times or not at all.

    Attributes:
        source: the tensor.
        places: the element of it that each element is.
    """

    source: str
    places: Places

    def reads(self, places: Places) -> list[Part]:
        """The parts from which elements come."""
        return [(self.source, self.places[places])]

    def node(self, draft: Draft, names: Sequence[str], output: str) -> None:
        """No node: the part is all of them."""


@dataclass(frozen=True)
class Joined:
    """The elements of several tensors, one after the other.

    Attributes:
        sources: the tensors.
        starts: the first element of each, and the number of all.
    """

    sources: Sequence[str]
    starts: Places

    def reads(self, places: Places) -> list[Part]:
        """The parts from which elements come, a run of them each."""
        which = np.searchsorted(self.starts, places, side="right") - 1
        runs = np.split(np.arange(len(places)), 1 + np.flatnonzero(np.diff(which)))
        firsts = [which[run[0]] for run in runs]
        return [
            (self.sources[source], places[run] - self.starts[source])
            for source, run in zip(firsts, runs, strict=True)
        ]

    def node(self, draft: Draft, names: Sequence[str], output: str) -> Node | None:
        """A node that makes them of these parts; None if one part is all of them."""
        if len(names) == 1:
            return None
        return draft.node("Concat", names, [output], axis=1)


@dataclass(frozen=True)
class Elementwise:
    """An elementwise node.

    Attributes:
        whole: the node.
        places: the element of each input that each element reads; None of one number for all.
    """

    whole: Node
    places: Sequence[Places | None]

    def reads(self, places: Places) -> list[Part]:
        """The parts from which elements come."""
        return [
            (name, None if each is None else each[places])
            for name, each in zip(self.whole.input, self.places, strict=True)
        ]

    def node(self, draft: Draft, names: Sequence[str], output: str) -> Node:
        """A node that makes them of these parts."""
        name = self.whole.name if [output] == self.whole.output else ""
        return copied(self.whole, name=name, input=[*names], output=[output])


@dataclass(frozen=True)
class Paired:
    """Sums, differences, products or extremes of two elements of one tensor.

    Attributes:
        operator: the elementwise operator.
        source: the tensor.
        pairs: its elements, shape (2, size).
    """

    operator: str
    source: str
    pairs: Places

    def reads(self, places: Places) -> list[Part]:
        """The parts from which elements come."""
        return [(self.source, each[places]) for each in self.pairs]

    def node(self, draft: Draft, names: Sequence[str], output: str) -> Node:
        """A node that makes them of these parts."""
        return draft.node(self.operator, names, [output])


Followed = Picked | Joined | Elementwise | Paired


def followed(draft: Draft, node: Node) -> Followed | None:
    """How the elements of a node come from others, if they can be followed.

    Args:
        draft: the model.
        node: one of its nodes.
    """
    axes = axes_of(draft, node.output[0])
    if axes is None or node.domain:
        return None
    if is_elementwise(node):
        return _elementwise(draft, node, axes)
    if is_one_of(node, "Concat"):
        return _joined(draft, node, axes)
    if is_one_of(node, "Gemm"):
        return _weighted_pairs(draft, node)
    places = places_of(draft, node)
    return _pairs(draft, node) if places is None else Picked(node.input[0], places)


def axes_of(draft: Draft, name: str) -> Sizes | None:
    """The sizes of a computed tensor's axes behind the batch, if there are any and all known."""
    return None if name in draft.tensors else draft.axes(name) or None


def places_of(draft: Draft, node: Node) -> Places | None:
    """The element of its first input that each element of a node is, if it only moves them."""
    axes, of_input = axes_of(draft, node.output[0]), axes_of(draft, node.input[0])
    numbers = [draft.tensors[name].values for name in node.input[1:] if name in draft.tensors]
    if axes is None or of_input is None or len(numbers) != len(node.input) - 1:
        return None
    table = np.arange(prod(of_input)).reshape(1, *of_input)
    shape = shape_of_samples(node, draft.tensors)
    moved = _moved(node, table, numbers) if shape is None else table.reshape(1, *shape)
    return None if moved is None or moved.shape != (1, *axes) else moved.ravel()


def shape_of_samples(node: Node, tensors: Mapping[str, Tensor]) -> Sizes | None:
    """The shape that a node gives each sample, if it does no more: a Flatten, or a Reshape that
    keeps the batch. -1 is the size that the others leave.

    Args:
        node: any node.
        tensors: the constants, by name.
    """
    if is_one_of(node, "Flatten"):
        return (-1,) if node.given_attributes.get("axis", 1) == 1 else None
    if not is_one_of(node, "Reshape") or node.given_attributes.get("allowzero"):
        return None
    given = tensors.get(node.input[1])
    if given is None or given.size == 0:
        return None
    batch, *sizes = given.values.tolist()
    return tuple(sizes) if batch == 0 and 0 not in sizes else None


def _moved(node: Node, table: Places, numbers: list[Places]) -> Places | None:
    """The elements of one sample as a node moves them; None if it does more, or mixes samples."""
    given = node.given_attributes
    if is_one_of(node, "Transpose"):
        perm = given.get("perm", ())
        return table.transpose(perm) if perm[:1] == (0,) else None
    if is_one_of(node, "Tile"):
        return np.tile(table, numbers[0].tolist()) if numbers[0][0] == 1 else None
    if is_one_of(node, "Gather") and numbers[0].ndim == 1 and given.get("axis", 0) > 0:
        return np.take(table, numbers[0].astype(np.int64), axis=given["axis"])
    if is_one_of(node, "Slice") and len(numbers) > 2 and numbers[2].tolist() == [1]:
        start, end, _, step, *_ = (*(int(each[0]) for each in numbers), 1)
        return table[:, start:end:step]
    return None


def reduced_axes(draft: Draft, node: Node) -> Axes | None:
    """The axes of a reduction; None where they are not known, or not behind the batch."""
    inside, given = draft.axes(node.input[0]), node.given_attributes.get("axes")
    if len(node.input) > 1:
        axes = draft.tensors.get(node.input[1])
        given = None if axes is None else axes.values.tolist()
    if inside is None or given is None or any(not 0 < axis <= len(inside) for axis in given):
        return None
    return tuple(given)


def reduced_to(draft: Draft, node: Node) -> Places | None:
    """The element of a reduction that each element of its input is part of, if it is known."""
    inside, axes = draft.axes(node.input[0]), reduced_axes(draft, node)
    if inside is None or axes is None:
        return None
    kept = [1 if axis + 1 in axes else size for axis, size in enumerate(inside)]
    return np.broadcast_to(np.arange(prod(kept)).reshape(kept), inside).ravel()


def _elementwise(draft: Draft, node: Node, axes: Sizes) -> Elementwise | None:
    """An elementwise node whose inputs stand in its axes, or in ones that broadcast to them."""
    places: list[Places | None] = []
    for name in node.input:
        constant = draft.tensors.get(name)
        if not name or (constant is not None and constant.size == 1):
            fits = constant is None or len(constant.dims) <= FLAT
            places.append(None if fits else np.zeros(prod(axes), np.int64))
            continue
        each = broadcast_of(draft, name, axes)
        if each is None:
            return None
        places.append(each)
    return Elementwise(node, places)


def broadcast_of(draft: Draft, name: str, axes: Sizes) -> Places | None:
    """The element of a tensor that each element of a node with these axes reads, if it is known.

    A constant may have fewer axes, since it has no batch.
    """
    constant = draft.tensors.get(name)
    sizes = draft.axes(name) if constant is None else constant.dims
    aligned = sizes is not None and (constant is not None or len(sizes) == len(axes))
    return broadcast(sizes, axes) if sizes is not None and aligned else None


def broadcast(sizes: Sizes, axes: Sizes) -> Places | None:
    """The elements of a tensor of one sample that is broadcast to other axes."""
    if len(sizes) > len(axes) and sizes[0] == 1:
        sizes = sizes[1:]
    last = axes[len(axes) - len(sizes) :]
    if len(sizes) > len(axes) or any(
        size not in (1, whole) for size, whole in zip(sizes, last, strict=True)
    ):
        return None
    return np.broadcast_to(np.arange(prod(sizes)).reshape(sizes), axes).ravel()


def unrepeated(values: np.ndarray) -> np.ndarray:
    """The values once along each axis along which they are all the same."""
    for axis in range(values.ndim):
        first = values.take([0], axis)
        if np.broadcast_to(first, values.shape).tobytes() == values.tobytes():
            values = first
    return values


def _joined(draft: Draft, node: Node, axes: Sizes) -> Joined | None:
    sizes = [axes_of(draft, name) for name in node.input]
    flat = [size[0] for size in sizes if size is not None and len(size) == 1]
    if len(axes) > 1 or len(flat) != len(sizes):
        return None
    return Joined(node.input, np.cumsum([0, *flat]))


def _pairs(draft: Draft, node: Node) -> Paired | None:
    """A reduction of pairs."""
    if not is_one_of(node, *_OF_PAIRS):
        return None
    sizes, axis = axes_of(draft, node.input[0]), reduced_axes(draft, node) or ()
    if sizes is None or len(axis) != 1 or sizes[axis[0] - 1] != _PAIR:
        return None
    table = np.arange(prod(sizes)).reshape(sizes)
    pairs = np.moveaxis(table, axis[0] - 1, 0).reshape(_PAIR, -1)
    return Paired(_OF_PAIRS[node.op_type], node.input[0], pairs)


def _weighted_pairs(draft: Draft, node: Node) -> Paired | None:
    """A product by rows that add two elements each, or subtract the second from the first."""
    given, weights = node.given_attributes, draft.tensors.get(node.input[1])
    biases = [draft.tensors.get(name) for name in node.input[2:]]
    if any(bias is None or bias.values.any() for bias in biases) or given.get("transA"):
        return None
    if weights is None or not given.get("transB"):
        return None
    matrix = weights.values.reshape(weights.dims).astype(np.float64) * given.get("alpha", 1.0)
    order = np.argsort(-matrix, axis=1, kind="stable")
    pairs = order[:, [0, -1]] if matrix.min() < 0.0 else order[:, :_PAIR]
    values = np.take_along_axis(matrix, pairs, axis=1)
    alike = np.all(np.count_nonzero(matrix, axis=1) == _PAIR) and np.all(values == values[0])
    operator = {(1.0, 1.0): "Add", (1.0, -1.0): "Sub"}.get(tuple(values[0].tolist()))
    return Paired(operator, node.input[0], pairs.T) if alike and operator else None


def without_leading_ones(values: np.ndarray) -> np.ndarray:
    """The values without the first axes that have one element, as they broadcast all the same."""
    while values.ndim > 1 and len(values) == 1:
        values = values[0]
    return values


def unrepeated_places(table: np.ndarray) -> np.ndarray:
    """Places, or truth values, once along each axis along which they are the same.

    Args:
        table: in axes; negative where any element will do.
    """
    for axis in range(table.ndim):
        most = table.max(axis, keepdims=True)
        table = most if np.all((table == most) | (table < 0)) else table
    return table
