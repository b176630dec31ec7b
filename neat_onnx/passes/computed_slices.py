"""Slices between computed places that are reduced along their axis: reductions of all elements, of
which a mask takes those between the places.

PyTorch writes an EmbeddingBag with offsets so: the rows from one offset to the next, summed up. The
nodes between a Slice and its reductions compute all elements then. This is for import.
"""

from typing import NamedTuple

import numpy as np

from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.model.value import Extent
from neat_onnx.model.wiring import reads
from neat_onnx.model.draft import Draft, is_one_of
from neat_onnx.passes.elementwise import is_elementwise

_NEUTRAL = {
    "ReduceL1": 0.0,
    "ReduceL2": 0.0,
    "ReduceMax": -np.inf,
    "ReduceMean": 0.0,
    "ReduceMin": np.inf,
    "ReduceProd": 1.0,
    "ReduceSum": 0.0,
    "ReduceSumSquare": 0.0,
}
"""An element that a reduction does not see, but for the number of those that a mean is of. The mean
of none is 0, as in onnxruntime: ONNX leaves it open."""


class _Part(NamedTuple):
    """A tensor of which some elements along an axis are meant, by the Slices that it comes from.

    Attributes:
        bounds: the tensors of the first place, and of the one behind the last.
        size: how many elements there are along the axis.
        axis: counted from the end, the last one is 1.
        rank: how many axes the tensor has.
        slices: the names of their results.
    """

    bounds: tuple[str, str]
    size: int
    axis: int
    rank: int
    slices: frozenset[str]


def computed_slices(model: Model) -> Model:
    """The model with masks for Slices at computed places that nothing but reductions ends."""
    if all(node.op_type != "Slice" or node.domain for node in model.graph.node):
        return model
    draft = Draft(model)
    parts = _parts(draft)
    if not parts:
        return model
    masks: dict[tuple[tuple[str, str], int], str] = {}

    def rewritten(node: Node) -> list[Node] | None:
        if any(name in parts and parts[name].slices == {name} for name in node.output):
            return [draft.node("Identity", node.input[:1], node.output, name=node.name)]
        part = parts.get(node.input[0]) if is_one_of(node, *_NEUTRAL) else None
        return None if part is None else _masked(draft, node, part, masks)

    return draft.rewritten(rewritten)


def _parts(draft: Draft) -> dict[str, _Part]:
    """The tensors between Slices that can be replaced and their reductions, by name."""
    parts: dict[str, _Part] = {}
    refused: set[str] = set()
    computed = {entry.name for entry in draft.model.graph.inputs}
    for node in draft.model.graph.node:
        read = [name for name in reads(node) if name]
        if not is_one_of(node, "Shape", "Size") and not computed.isdisjoint(read):
            computed.update(node.output)
        given = [parts[name] for name in read if name in parts]
        if not given and is_one_of(node, "Slice") and not computed.isdisjoint(node.input[1:3]):
            part = _sliced(draft, node)
        else:
            part = _handed_on(draft, node, parts) if given else None
        if part is not None:
            parts[node.output[0]] = part
        elif given and not _is_reduced(draft, node, parts):
            refused.update(*(each.slices for each in given))
    ends = (entry.name for entry in draft.model.graph.outputs)
    refused.update(*(parts[name].slices for name in ends if name in parts))
    return _without(parts, refused)


def _without(parts: dict[str, _Part], refused: set[str]) -> dict[str, _Part]:
    """The tensors that are of none of these Slices, nor of others that come together with them."""
    while refused:
        left = {name: part for name, part in parts.items() if refused.isdisjoint(part.slices)}
        lost = [part.slices for name, part in parts.items() if name not in left]
        parts, refused = left, set().union(*lost) - refused
    return parts


def _sliced(draft: Draft, node: Node) -> _Part | None:
    """The part that a Slice takes along one axis of a known size; None of any other Slice."""
    shape = draft.facts(node.input[0]).shape
    axis, step = (_optional(draft, node, position) for position in (3, 4))
    single = all(_shape(draft, name) == (1,) for name in node.input[1:3])
    if shape is None or not single or axis is None or step not in (0, 1):
        return None
    size = shape[axis] if -len(shape) <= axis < len(shape) else None
    if not isinstance(size, int):
        return None
    bounds = node.input[1], node.input[2]
    return _Part(bounds, size, len(shape) - axis % len(shape), len(shape), frozenset(node.output))


def _optional(draft: Draft, node: Node, position: int) -> int | None:
    """A constant input of one integer, 0 where it is left out; None of any other input."""
    name = node.input[position] if position < len(node.input) else ""
    return draft.integer(name) if name else 0


def _shape(draft: Draft, name: str) -> tuple[Extent, ...] | None:
    known = draft.tensors.get(name)
    return draft.facts(name).shape if known is None else known.dims


def _handed_on(draft: Draft, node: Node, parts: dict[str, _Part]) -> _Part | None:
    """The part that a node makes of others, element by element or row by row, if it does."""
    first = parts.get(node.input[0])
    if is_one_of(node, "Gather") and first is None:
        return _of_rows(draft, node, parts[node.input[1]])
    if is_one_of(node, "Unsqueeze") and first is not None:
        return _unsqueezed(draft, node, first)
    if not is_elementwise(node) and not is_one_of(node, "Cast", "Identity"):
        return None
    given = [parts[name] for name in node.input if name in parts]
    shapes = [_shape(draft, name) for name in node.input if name and name not in parts]
    of_all = all(
        shape is not None and (len(shape) < given[0].axis or shape[-given[0].axis] == 1)
        for shape in shapes
    )
    if not of_all or any(each[:3] != given[0][:3] for each in given):
        return None
    rank = max([each.rank for each in given] + [len(shape or ()) for shape in shapes])
    slices = frozenset[str]().union(*(each.slices for each in given))
    return given[0]._replace(rank=rank, slices=slices)


def _of_rows(draft: Draft, node: Node, rows: _Part) -> _Part | None:
    """The elements of a tensor at the places that a part holds."""
    shape, axis = _shape(draft, node.input[0]), int(node.given_attributes.get("axis", 0))
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    behind = len(shape) - axis % len(shape) - 1
    return rows._replace(axis=rows.axis + behind, rank=rows.rank + len(shape) - 1)


def _unsqueezed(draft: Draft, node: Node, part: _Part) -> _Part | None:
    axes = _axes(draft, node)
    if axes is None:
        return None
    rank = part.rank + len(axes)
    new = {axis % rank for axis in axes}
    old = [axis for axis in range(rank) if axis not in new]
    return part._replace(axis=rank - old[part.rank - part.axis], rank=rank)


def _axes(draft: Draft, node: Node) -> list[int] | None:
    """The constant axes of a node; None if it states none."""
    tensor = draft.tensors.get(node.input[1]) if len(node.input) > 1 else None
    given = node.given_attributes.get("axes") if tensor is None else tensor.values.ravel()
    return None if given is None else [int(axis) for axis in given]


def _is_reduced(draft: Draft, node: Node, parts: dict[str, _Part]) -> bool:
    """Whether a node reduces a part along its axis, and reads no other part."""
    if not is_one_of(node, *_NEUTRAL) or node.input[0] not in parts:
        return False
    part, axes = parts[node.input[0]], _axes(draft, node) or []
    along = [axis % part.rank for axis in axes]
    fits = part.rank - part.axis in along and node.input[0] not in node.input[1:]
    return fits and (node.op_type != "ReduceMean" or len(along) == 1)


def _masked(
    draft: Draft, node: Node, part: _Part, masks: dict[tuple[tuple[str, str], int], str]
) -> list[Node]:
    """The nodes of a reduction of the elements that are meant."""
    nodes = []
    if (key := (part.bounds, part.size)) not in masks:
        masks[key] = draft.name(f"{node.output[0]}_mask")
        nodes += _mask(draft, part, masks[key])
    result = node.output[0]
    neutral, masked, shaped = (
        draft.name(f"{result}_{word}") for word in ("neutral", "masked", "shaped")
    )
    value = _infinite_constant(draft, f"{result}_value", _NEUTRAL[node.op_type])
    shape = draft.constant(f"{result}_shape", [part.size, *[1] * (part.axis - 1)])
    nodes += [
        draft.node("Reshape", [masks[key], shape], [shaped]),
        draft.node("CastLike", [value, node.input[0]], [neutral]),
        draft.node("Where", [shaped, node.input[0], neutral], [masked]),
    ]
    given = node.given_attributes
    if node.op_type != "ReduceMean":
        reads = [masked, *node.input[1:]]
        return [*nodes, draft.node(node.op_type, reads, [result], name=node.name, **given)]
    words = "sum", "ones", "count", "some", "divisor"
    total, numbers, count, some, divisor = (draft.name(f"{result}_{word}") for word in words)
    one = draft.constant(f"{result}_one", 1.0, DataType.FLOAT)
    axes = draft.constant(f"{result}_axes", _axes(draft, node))
    keeps = {"keepdims": given.get("keepdims", 1)}
    return [
        *nodes,
        draft.node("ReduceSum", [masked, axes], [total], **keeps),
        draft.node("Cast", [masks[key]], [numbers], to=int(DataType.FLOAT)),
        draft.node("ReduceSum", [numbers], [count], keepdims=0),
        draft.node("Max", [count, one], [some]),
        draft.node("CastLike", [some, node.input[0]], [divisor]),
        draft.node("Div", [total, divisor], [result], name=node.name),
    ]


def _infinite_constant(draft: Draft, wish: str, value: float) -> str:
    name = draft.name(wish)
    draft.tensors[name] = Tensor.of(name, np.asarray(value), infinite=True)
    return name


def _mask(draft: Draft, part: _Part, mask: str) -> list[Node]:
    """The nodes that say of each place whether it is between the bounds."""
    nodes, names = list[Node](), list[str]()
    zero, size = draft.constant(f"{mask}_zero", [0]), draft.constant(f"{mask}_size", [part.size])
    for bound in part.bounds:
        number, below, whole, from_end = (draft.name(f"{mask}_bound") for _ in range(4))
        nodes += [
            draft.node("Cast", [bound], [number], to=int(DataType.INT64)),
            draft.node("Less", [number, zero], [below]),
            draft.node("Add", [number, size], [from_end]),
            draft.node("Where", [below, from_end, number], [whole]),
        ]
        names.append(whole)
    places = draft.constant(f"{mask}_places", np.arange(part.size))
    behind, before = draft.name(f"{mask}_behind"), draft.name(f"{mask}_before")
    return [
        *nodes,
        draft.node("GreaterOrEqual", [places, names[0]], [behind]),
        draft.node("Less", [places, names[1]], [before]),
        draft.node("And", [behind, before], [mask]),
    ]
