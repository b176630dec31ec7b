"""Sizes that are known without running the graph: Shape, Size, and values computed from them.

A tensor of sizes is followed element by element. An element is a number, the symbol of an axis
(as "N"), or unknown; one that is no number is taken to be 1 or more, as there is a sample. Where
all are numbers the tensor becomes an initializer.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from neat_onnx.model import DataType, Node, Tensor
from neat_onnx.model.value import Extent, is_fixed

MAX_AXES = 64
"""The most elements of a tensor of sizes: longer ones are no shapes."""
_INTEGERS = (DataType.INT32, DataType.INT64)


class Sizes(NamedTuple):
    """A tensor of sizes, of one axis or, as a scalar, of none."""

    elements: tuple[Extent, ...]
    scalar: bool = False
    kind: DataType = DataType.INT64

    @property
    def known(self) -> bool:
        """Every element is a number rather than a symbol."""
        return is_fixed(self.elements)

    def tensor(self, name: str) -> Tensor | None:
        """The initializer of sizes that are known; None where they are no integers of 64 bits."""
        try:
            values = np.array(self.elements, np.int64)
        except OverflowError:
            return None
        values = values.astype(np.bool_) if self.kind is DataType.BOOL else values
        return Tensor.of(name, values.reshape(()) if self.scalar else values, self.kind)


def is_source(node: Node) -> bool:
    """Whether a node's result is the sizes of its input."""
    return node.op_type in _SOURCES and not node.domain


def sizes_of(node: Node, shape: tuple[Extent, ...]) -> Sizes:
    """The result of such a node, whose input has this shape."""
    return _SOURCES[node.op_type](node, shape)


def computed_sizes(
    node: Node, followed: Mapping[str, Sizes], tensors: Mapping[str, Tensor]
) -> Sizes | None:
    """The result of a node that reads sizes, if it is a tensor of sizes as well.

    Args:
        node: a node of any operator.
        followed: the tensors of sizes there are, by name.
        tensors: the initializers.
    """
    rule = _RULES.get(node.op_type)
    if rule is None or node.domain or not any(name in followed for name in node.input):
        return None
    operands = [_operand(name, followed, tensors) for name in node.input if name]
    known = [operand for operand in operands if operand is not None]
    if not len(known) == len(operands) == _TAKEN.get(node.op_type, len(known)):
        return None
    try:
        found = rule(node, *known)
    except (IndexError, ValueError):  # a Gather from beyond the shape: invalid
        return None
    return found._replace(kind=_kind(node, known[0])) if found else None


def _kind(node: Node, data: Sizes) -> DataType:
    """The type of the result of a node of `_RULES`."""
    match node.op_type:
        case "Equal":
            return DataType.BOOL
        case "Cast":
            return DataType(node.given_attributes["to"])
        case _:
            return data.kind


def _operand(
    name: str, followed: Mapping[str, Sizes], tensors: Mapping[str, Tensor]
) -> Sizes | None:
    if name in followed:
        return followed[name]
    tensor = tensors.get(name)
    if tensor is None or tensor.size > MAX_AXES or tensor.values.dtype != np.int64:
        return None
    if len(tensor.dims) > 1:
        return None
    return Sizes(tuple(tensor.values.ravel().tolist()), not tensor.dims, tensor.data_type)


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


_SOURCES: dict[str, Callable[[Node, tuple[Extent, ...]], Sizes]] = {
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
