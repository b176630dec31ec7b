"""Integer inputs that are places along an axis, as the words of an embedding, or as an action among
values: runtimes refuse places that are not there.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from neat_onnx.model import Graph, Model, Node
from neat_onnx.model.draft import Draft
from neat_onnx.model.rounding import MOVING
from neat_onnx.model.value import Extent
from neat_onnx.model.wiring import nodes_within, subgraphs

_MOVING = MOVING | {"ArrayFeatureExtractor", "Cast", "Expand", "Tile"}
_SHIFTS = {"Add": 1, "Sub": -1}
_PLACED = ("ArrayFeatureExtractor", "Gather", "GatherElements", "GatherND", "ScatterElements")
"""Operators whose second input is places along an axis of the first."""


class Range(NamedTuple):
    """Integers from `low` on, up to one below `high`."""

    low: int
    high: int


class _Origin(NamedTuple):
    """The input that a tensor is, and the least and the largest number that is added to it."""

    name: str
    least: int = 0
    most: int = 0


_Origins = dict[str, _Origin]


def places_of(model: Model) -> Mapping[str, Range]:
    """For each graph input that is read as places along an axis, the values that it may have."""
    found: dict[str, Range] = {}
    if not any(node.op_type in _PLACED for node in nodes_within(model.graph)):
        return found
    draft = Draft(model)
    for node, origin in _followed(model.graph):
        each = origin.get(node.input[1]) if node.op_type in _PLACED else None
        size = _along_axis(node, draft.facts(node.input[0]).shape) if each else None
        if each is not None and size is not None:
            low, high = found.get(each.name, (-each.least, size - each.most))
            found[each.name] = Range(max(low, -each.least), min(high, size - each.most))
    return {name: values for name, values in found.items() if values.low < values.high}


def _followed(graph: Graph, around: _Origins | None = None) -> Iterator[tuple[Node, _Origins]]:
    """Each node, with the tensors before it that are inputs: which, and the number added to it.

    Args:
        graph: the graph.
        around: the tensors of the graph around, of one that is inside a Loop or an If.
    """
    origin = {entry.name: _Origin(entry.name) for entry in graph.inputs} if around is None else {}
    origin |= around or {}
    tensors = {name: each for name, each in graph.tensors.items() if each.size}
    for node in graph.node:
        yield node, origin
        for inner in subgraphs(node):
            yield from _followed(inner, origin)
        read = [origin[name] for name in node.input if name in origin]
        constants = [tensors[name] for name in node.input if name in tensors]
        if not read:
            continue
        if node.op_type in _MOVING:
            origin |= dict.fromkeys(filter(None, node.output), read[0])
        elif node.op_type == "Where" or (node.op_type in ("Add", "Mul") and not constants):
            origin[node.output[0]] = min(read)  # masks choose among one
        elif node.op_type in _SHIFTS and constants and constants[0].data_type.is_integer:
            added = _SHIFTS[node.op_type] * constants[0].values
            least, most = int(added.min()), int(added.max())
            origin[node.output[0]] = _Origin(
                read[0].name, read[0].least + least, read[0].most + most
            )


def _along_axis(node: Node, shape: Sequence[Extent] | None) -> int | None:
    """The size of the axis that a node reads along, if it is known."""
    axis = -1 if node.op_type == "ArrayFeatureExtractor" else 0
    axis = getattr(node.attributes, "batch_dims" if node.op_type == "GatherND" else "axis", axis)
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    size = shape[axis]
    return size if isinstance(size, int) else None
