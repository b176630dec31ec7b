"""ArgMax, ArgMin and TopK: places in an order, as numbers that neurons compute by comparisons."""

from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand
from neat_onnx.model import Attributes, Node
from neat_onnx.operators.algebra import Algebra, rearranged
from neat_onnx.operators.arranging import axis_of


class PlaceAttributes(Attributes):
    """Attributes of ArgMax and ArgMin: the axis, and the choice between equal elements."""

    axis: int = 0
    keepdims: Literal[0, 1] = 1
    select_last_index: Literal[0, 1] = 0


def first_hit(tensors: Algebra, hits: Operand, axis: int, *, last: bool = False) -> Operand:
    """1 at the first hit along an axis, else 0; hits are 1 and 0.

    A hit minus the number of hits before it is above 0 for the first only.
    """
    size = hits.shape[axis]
    before = np.tri(size, k=-1)
    found = tensors.along(hits, axis, np.eye(size) - (before.T if last else before))
    return tensors("number", tensors("greater", found, 0.5))


def place_of(tensors: Algebra, choice: Operand, axis: int, *, keepdims: bool) -> Operand:
    """The place along an axis of the only 1."""
    number = np.arange(choice.shape[axis], dtype=np.float64)[None, :]
    found = tensors.along(choice, axis, number)
    if keepdims:
        return found
    return rearranged(found, lambda array: np.squeeze(array, axis))


def lift_place(ctx: LiftingContext, node: Node, *, largest: bool) -> None:
    """Bind the place of the largest, or of the smallest, along an axis."""
    given = node.attributes
    assert isinstance(given, PlaceAttributes)
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    axis = axis_of(ctx, node, given.axis, len(x.shape))
    extreme = tensors.reduced("max" if largest else "min", x, (axis,))
    hits = tensors("number", tensors("equal", x, extreme))
    choice = first_hit(tensors, hits, axis, last=bool(given.select_last_index))
    ctx.bind(node, place_of(tensors, choice, axis, keepdims=bool(given.keepdims)))
    ctx.integer.add(node.output[0])


def lift_ordered(ctx: LiftingContext, node: Node, axis: int, *, largest: bool) -> None:
    """Bind the first k values along an axis in their order, and their places.

    The rank of an element is how many come before it: the larger ones, and equal ones before it.
    """
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    axis = axis_of(ctx, node, axis, len(x.shape))
    (count,) = ctx.integers(node, 1)
    size = x.shape[axis]
    if not 0 < count <= size:
        ctx.fail(node, f"k is {count}, for {size} elements")
    ctx.check_size(node, int(np.prod(x.shape, dtype=object)) * size)
    x = rearranged(x, lambda array: np.moveaxis(array, axis, -1))
    one = rearranged(x, lambda array: array[..., :, None])
    other = rearranged(x, lambda array: array[..., None, :])
    is_before = tensors("greater" if largest else "less", other, one)
    ties = tensors("both", tensors("equal", other, one), np.tri(size, k=-1, dtype=np.bool_))
    before = tensors("number", tensors("either", is_before, ties))
    rank = tensors.reduced("sum", before, (-1,), keepdims=False)
    wanted = np.arange(count, dtype=np.float64)[:, None]
    ranks = rearranged(rank, lambda array: array[..., None, :])
    choice = tensors("number", tensors("equal", ranks, wanted))
    places = place_of(tensors, choice, len(choice.shape) - 1, keepdims=False)
    shown = tensors("mul", choice, rearranged(x, lambda array: array[..., None, :]))
    values = tensors.reduced("sum", shown, (-1,), keepdims=False)
    ctx.bind(
        node, *(rearranged(each, lambda array: np.moveaxis(array, -1, axis))
                for each in (values, places))
    )  # fmt: skip
    ctx.integer.discard(node.output[0])
    ctx.integer.add(node.output[1])
