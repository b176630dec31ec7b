"""Inputs that are places in a table, as the words of an embedding, or along an axis, as an action
among values, labels of a loss, categories that are numbered, lengths of sequences, or divisors:
runtimes refuse others.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from neat_onnx.model import Graph, Model, Node
from neat_onnx.model.draft import Draft
from neat_onnx.model.rounding import MOVING
from neat_onnx.model.value import Extent
from neat_onnx.model.wiring import subgraphs

_MOVING = MOVING | {"ArrayFeatureExtractor", "Cast", "Expand", "Tile"}
_SHIFTS = {"Add": 1, "Sub": -1}
_LOSSES = ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
_GATHERING = (
    "ArrayFeatureExtractor",
    "Gather",
    "GatherElements",
    "GatherND",
    "ScatterElements",
    "ScatterND",
)
_PLACED = (*_GATHERING, *_LOSSES)
"""Operators whose second input is places along an axis of the first."""
_DIVIDING = ("Div", "Mod")
_NESTED = ("If", "Loop")
_RECURRENT, _LENGTHS = ("RNN", "GRU", "LSTM"), 4


class Range(NamedTuple):
    """Integers from `low` on, up to one below `high`."""

    low: int
    high: int


class _Origin(NamedTuple):
    """The input that a tensor is, and the least and the largest number that is added to it."""

    name: str
    least: int = 0
    most: int = 0

    def plus(self, numbers: Range) -> "_Origin":
        return _Origin(self.name, self.least + numbers.low, self.most + numbers.high - 1)

    def within(self, size: int) -> Range:
        """The values of the input that are below a size with each of the numbers."""
        return Range(-self.least, size - self.most)


_Origins = dict[str, _Origin]


def places_of(model: Model) -> Mapping[str, Range]:
    """For each graph input that is read as places along an axis, as many more, or as categories,
    its values.
    """
    graph = model.graph
    found: dict[str, Range] = {}
    draft: Draft | None = None
    for node, origin in _followed(graph):
        first = node.input[0] if node.input else ""
        if node.op_type in _PLACED and node.input[1] in origin:
            draft = draft or Draft(model)
            size = _along_axis(node, *(draft.facts(name).shape for name in node.input[:2]))
            each = origin[node.input[1]]
            if size is not None:
                found[each.name] = _within(found.get(each.name), each.within(size))
        elif node.op_type == "OneHotEncoder" and first in origin:
            each = origin[first]
            if size := _categories(node):
                found[each.name] = _within(found.get(each.name), each.within(size))
        elif node.op_type in _RECURRENT and len(node.input) > _LENGTHS:
            draft, lengths = draft or Draft(model), origin.get(node.input[_LENGTHS])
            steps = _steps(node, draft.facts(first).shape)
            if lengths is not None and steps is not None:
                its = Range(1 - lengths.least, steps + 1 - lengths.most)
                found[lengths.name] = _within(found.get(lengths.name), its)
    return {name: values for name, values in found.items() if values.low < values.high}


def zeros_of(model: Model) -> Mapping[str, int]:
    """For each graph input that integers may be divided by, the value that makes the divisor 0."""
    found = {}
    for node, origin in _followed(model.graph):
        if node.op_type in _DIVIDING and node.input[1] in origin:
            divisor = origin[node.input[1]]
            found[divisor.name] = -divisor.least
    return found


def _followed(graph: Graph, around: _Origins | None = None) -> Iterator[tuple[Node, _Origins]]:
    """Each node, with the tensors before it that are inputs: which, and the number added to it.

    Args:
        graph: the graph.
        around: the tensors of the graph around, of one that is inside a Loop or an If.
    """
    origin: _Origins = {entry.name: _Origin(entry.name) for entry in graph.inputs}
    if around is not None:
        origin = {**around}
    for node in graph.node:
        yield node, origin
        if node.op_type in _NESTED:
            for inner in subgraphs(node):
                yield from _followed(inner, origin)
        first = node.input[0] if node.input else ""
        if node.op_type in _MOVING and first in origin:
            origin.update(dict.fromkeys(filter(None, node.output), origin[first]))
        elif node.op_type in _SHIFTS and first in origin:
            shift, other = _shift(graph, node), origin.get(node.input[1])
            one = origin[first]
            if shift is not None:
                origin[node.output[0]] = one.plus(shift)
            elif other is not None and other.name == one.name:  # two products with masks: a choice
                origin[node.output[0]] = min(one, other)
        elif not origin.keys().isdisjoint(node.input) and _chooses(node, graph):
            origin.update((node.output[0], origin[name]) for name in node.input if name in origin)


def _chooses(node: Node, graph: Graph) -> bool:
    """Whether a node chooses some elements of each input, as a mask does among labels."""
    if node.op_type == "Mul":
        return not any(name in graph.tensors for name in node.input)
    return node.op_type == "Where"


def _within(known: Range | None, other: Range) -> Range:
    """The integers of both."""
    return Range(max(known.low, other.low), min(known.high, other.high)) if known else other


def _shift(graph: Graph, node: Node) -> Range | None:
    """The integers that a node adds to its first input, if they are constant."""
    tensor, sign = graph.tensors.get(node.input[1]), _SHIFTS[node.op_type]
    if tensor is None or not tensor.size or tensor.values.dtype.kind != "i":
        return None
    ends = sorted(sign * int(end) for end in (tensor.values.min(), tensor.values.max()))
    return Range(ends[0], ends[1] + 1)


def _categories(node: Node) -> int:
    """The number of categories 0, 1, … that alone a OneHotEncoder takes; 0 if it takes others."""
    given = node.given_attributes
    categories = sorted(given.get("cats_int64s", ()))
    numbered = categories == [*range(len(categories))] and not given.get("zeros", 1)
    return len(categories) if numbered else 0


def _steps(node: Node, shape: Sequence[Extent] | None) -> int | None:
    """The number of steps of a recurrent layer, if it is known."""
    steps = shape[1 if node.given_attributes.get("layout") else 0] if shape else None
    return steps if isinstance(steps, int) else None


def _along_axis(
    node: Node, shape: Sequence[Extent] | None, places: Sequence[Extent] | None
) -> int | None:
    """The size of the axis that a node reads along, if it is known; of several axes, the least."""
    if node.op_type == "ScatterND":
        sizes = shape[: places[-1]] if shape and places and isinstance(places[-1], int) else ()
        known = [size for size in sizes if isinstance(size, int)]
        return min(known) if sizes and len(known) == len(sizes) else None
    axis = getattr(node.attributes, "batch_dims" if node.op_type == "GatherND" else "axis", 0)
    axis = {"ArrayFeatureExtractor": -1}.get(node.op_type, 1 if node.op_type in _LOSSES else axis)
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    size = shape[axis]
    return size if isinstance(size, int) else None
