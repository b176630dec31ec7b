"""Sizes that are known without running the graph: Shape, Size, and values computed from them.

A tensor of sizes is followed element by element. An element is a number, the symbol of an axis
(as "N"), or unknown; one that is no number is taken to be 1 or more, as there is a sample. Where
all are numbers the tensor becomes an initializer; a Reshape to one size that is no number takes
that from the elements there are (-1).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.model.value import Extent
from neat_onnx.passes.draft import Draft, with_inputs

_MAX_AXES = 64  # longer tensors are no shapes
_INTEGERS = (DataType.INT32, DataType.INT64)


class Sizes(NamedTuple):
    """A tensor of sizes, of one axis or, as a scalar, of none."""

    elements: tuple[Extent, ...]
    scalar: bool = False

    @property
    def known(self) -> bool:
        """Every element is a number rather than a symbol."""
        return all(isinstance(size, int) for size in self.elements)


def static_shapes(model: Model) -> Model:
    """The model with initializers for sizes that are known, and Reshapes to them."""
    if not any(node.op_type in ("Shape", "Size") for node in model.graph.node):
        return model
    draft = Draft(model)
    followed: dict[str, Sizes] = {}
    wanted = {entry.name for entry in model.graph.outputs}
    for node in model.graph.node:
        if node.op_type == "Reshape" and not followed.keys().isdisjoint(node.input[1:]):
            draft.nodes.append(_reshape(node, followed[node.input[1]], draft))
            continue
        try:
            found = _found(node, draft, followed)
            values = np.array(found.elements if found and found.known else (), np.int64)
        except (IndexError, ValueError, OverflowError):  # a Gather from beyond the shape: invalid
            found = None
        name = node.output[0] if found else ""
        if found:
            followed[name] = found
        if found and found.known and name not in wanted:
            kind = _type(node, draft)
            values = values.astype(np.bool_) if kind is DataType.BOOL else values
            shaped = values.reshape(()) if found.scalar else values
            draft.tensors[name] = Tensor.of(name, shaped, kind)
        else:
            draft.nodes.append(node)
    return model if draft.nodes == model.graph.node else draft.finished()


def _type(node: Node, draft: Draft) -> DataType:
    if node.op_type == "Equal":
        return DataType.BOOL
    return draft.facts(node.output[0]).elem_type or DataType.INT64


def _found(node: Node, draft: Draft, followed: dict[str, Sizes]) -> Sizes | None:
    """The output of a node, if it is a tensor of sizes."""
    if node.domain:
        return None
    if node.op_type in ("Shape", "Size"):
        shape = draft.facts(node.input[0]).shape
        return None if shape is None else _SOURCES[node.op_type](node, shape)
    rule = _RULES.get(node.op_type)
    if rule is None or not any(name in followed for name in node.input):
        return None
    operands = [_operand(name, draft, followed) for name in node.input if name]
    known = [operand for operand in operands if operand is not None]
    fits = len(known) == len(operands) == _TAKEN.get(node.op_type, len(known))
    return rule(node, *known) if fits else None


def _operand(name: str, draft: Draft, followed: dict[str, Sizes]) -> Sizes | None:
    if name in followed:
        return followed[name]
    tensor = draft.tensors.get(name)
    if tensor is None or tensor.size > _MAX_AXES or tensor.values.dtype != np.int64:
        return None
    if len(tensor.dims) > 1:
        return None
    return Sizes(tuple(tensor.values.ravel().tolist()), scalar=not tensor.dims)


def _reshape(node: Node, sizes: Sizes, draft: Draft) -> Node:
    unknown = [at for at, size in enumerate(sizes.elements) if not isinstance(size, int)]
    fixed = [size for size in sizes.elements if isinstance(size, int)]
    if len(unknown) != 1 or min(fixed, default=1) < 1:
        return node
    shape = [size if isinstance(size, int) else -1 for size in sizes.elements]
    return with_inputs(node, [node.input[0], draft.constant(f"{node.output[0]}_shape", shape)])


def _shape(node: Node, shape: tuple[Extent, ...]) -> Sizes:
    given = node.given_attributes
    return Sizes(shape[given.get("start", 0) : given.get("end")])


def _size(node: Node, shape: tuple[Extent, ...]) -> Sizes:
    return Sizes((_product(*shape),), scalar=True)


def _product(*sizes: Extent) -> Extent:
    known = [size for size in sizes if isinstance(size, int)]
    return math.prod(known) if len(known) == len(sizes) or 0 in known else None


def _mul(node: Node, one: Sizes, other: Sizes) -> Sizes | None:
    pairs = _pairs(one, other)
    if pairs is None or any(isinstance(size, int) and size < 0 for pair in pairs for size in pair):
        return None
    return Sizes(tuple(_product(*pair) for pair in pairs), one.scalar and other.scalar)


def _equal(node: Node, one: Sizes, other: Sizes) -> Sizes | None:
    """Whether sizes are equal, 1 or 0; a size that is no number is none below 1."""
    pairs = _pairs(one, other)
    if pairs is None:
        return None
    found = [_are_equal(*pair) for pair in pairs]
    truths = tuple(int(truth) for truth in found if truth is not None)
    return Sizes(truths, one.scalar and other.scalar) if len(truths) == len(found) else None


def _are_equal(one: Extent, other: Extent) -> bool | None:
    numbers = [size for size in (one, other) if isinstance(size, int)]
    if len(numbers) == 2:
        return one == other
    return False if numbers and numbers[0] < 1 else None


def _pairs(one: Sizes, other: Sizes) -> list[tuple[Extent, Extent]] | None:
    """The elements of both beside each other; a single one goes with each of the other's. None if
    their numbers do not fit.
    """
    count = max(len(one.elements), len(other.elements))
    left, right = (
        each.elements * count if len(each.elements) == 1 else each.elements for each in (one, other)
    )
    return list(zip(left, right, strict=True)) if len(left) == len(right) else None


def _cast(node: Node, data: Sizes) -> Sizes | None:
    return data if node.given_attributes.get("to") in _INTEGERS else None


def _gather(node: Node, data: Sizes, at: Sizes) -> Sizes | None:
    count = len(data.elements)
    indices = [k for k in at.elements if isinstance(k, int) and -count <= k < count]
    if data.scalar or len(indices) < len(at.elements):
        return None
    return Sizes(tuple(data.elements[k] for k in indices), scalar=at.scalar)


def _concat(node: Node, *parts: Sizes) -> Sizes | None:
    if any(part.scalar for part in parts):
        return None
    return Sizes(tuple(size for part in parts for size in part.elements))


def _slice(node: Node, data: Sizes, *bounds: Sizes) -> Sizes | None:
    numbers = [bound.elements[0] for bound in bounds if len(bound.elements) == 1]
    given = [number for number in numbers if isinstance(number, int)]
    if data.scalar or len(given) < 2 or len(given) < len(bounds):
        return None
    step = given[3] if len(given) > 3 else 1
    return Sizes(data.elements[slice(given[0], given[1], step)]) if step else None


def _unsqueeze(node: Node, data: Sizes, *axes: Sizes) -> Sizes | None:
    count = len(axes[0].elements if axes else node.given_attributes.get("axes", ()))
    return Sizes(data.elements) if data.scalar and count == 1 else None


def _squeeze(node: Node, data: Sizes, *axes: Sizes) -> Sizes | None:
    return Sizes(data.elements, scalar=True) if len(data.elements) == 1 else None


def _flat(node: Node, data: Sizes, *shape: Sizes) -> Sizes | None:
    wanted = shape[0].elements if shape else tuple(node.given_attributes.get("shape", ()))
    return Sizes(data.elements) if wanted in ((-1,), (len(data.elements),)) else None


_SOURCES: dict[str, Callable[[Node, tuple[Extent, ...]], Sizes | None]] = {
    "Shape": _shape,
    "Size": _size,
}
_TAKEN = {"Cast": 1, "Equal": 2, "Gather": 2, "Identity": 1, "Mul": 2}
"""How many inputs an operator has, where that is one number."""
_RULES: dict[str, Callable[..., Sizes | None]] = {
    "Cast": _cast,
    "Concat": _concat,
    "Equal": _equal,
    "Gather": _gather,
    "Identity": lambda node, data: data,
    "Mul": _mul,
    "Reshape": _flat,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
}
