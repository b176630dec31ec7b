"""Gather at constant indices; Gather and GatherElements at computed places, as of an embedding.

A computed place becomes a neuron for each place that there is, 1 where it is that one, else 0; the
result is their sum, weighted by the elements there.
"""

import math
from collections.abc import Sequence

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.lifting.followed_axes import FEATURE
from neat_onnx.model import Node
from neat_onnx.network.expression import VARIABLE, call, equal
from neat_onnx.operators.algebra import Algebra, rearranged, reshaped
from neat_onnx.operators.formulas.formula import formula_of
from neat_onnx.operators.formulas.guarded import chosen_of_several
from neat_onnx.operators.layout.arranging import axis_of
from neat_onnx.operators.layout.last_step import takes_last_step
from neat_onnx.operators.layout.shaping import Gather, rearrange, refuse_samples


@lifts(Gather, infinite=True)
def lift_gather(ctx: LiftingContext, node: Gather) -> None:
    """Lift Gather: a choice of signals, not along the batch; of constants, a table."""
    index, axis = ctx.operand(node, 1), node.attributes.axis
    if isinstance(index, Value):
        _gather_from_table(ctx, node, axis)
        return
    if index.dtype.kind != "i":
        ctx.fail(node, "its indices have to be of integers")
    shape = ctx.operand(node, 0).shape
    (axis,) = ctx.axes(node, [axis], len(shape))
    size = shape[axis]
    if not (index.size == 1 and index.item() == -1 and takes_last_step(ctx, node, axis)):
        refuse_samples(ctx, node, [axis])
    if np.any(index < -size) or np.any(index >= size):
        ctx.fail(node, f"an index is outside of the {size} elements along axis {axis}")
    rearrange(ctx, node, lambda array: np.take(array, index, axis=axis))


def _gather_from_table(ctx: LiftingContext, node: Node, axis: int) -> None:
    """Bind the slices of a constant at computed places."""
    tensors = Algebra(ctx, node)
    table, index = tensors.input(0), tensors.input(1)
    if isinstance(table, Value):
        _gather_computed(ctx, node, axis)
        return
    if table.dtype.kind not in "iuf" or not np.isfinite(table).all():
        ctx.fail(node, "it looks up what are no finite numbers at computed places")
    (axis,) = ctx.axes(node, [axis], len(table.shape))
    rows = np.moveaxis(table.astype(np.float64), axis, -1)
    found = tensors.along(
        places_hit(ctx, node, index, table.shape[axis]),
        len(index.shape),
        rows.reshape(-1, table.shape[axis]),
    )
    whole = reshaped(found, (*index.shape, *rows.shape[:-1]))
    places = len(index.shape)
    moved = range(places, places + axis), range(axis)
    ctx.bind(node, rearranged(whole, lambda array: np.moveaxis(array, *map(tuple, moved))))


def _gather_computed(ctx: LiftingContext, node: Node, axis: int) -> None:
    """Bind the slices of computed data at computed places, of one sample each.

    Raises:
        ModelError: every sample's places would be places in every sample's data.
    """
    tensors = Algebra(ctx, node)
    data, index = tensors.input(0), tensors.input(1)
    (axis,) = ctx.axes(node, [axis], len(data.shape))
    ctx.refuse_along(node, [axis], 0)
    if all(any(kind != FEATURE for kind in ctx.followed.of(name)) for name in node.input):
        ctx.refuse_batch(node)
    before, size, after = data.shape[:axis], data.shape[axis], data.shape[axis + 1 :]
    hits = places_hit(ctx, node, index, size)
    hits = reshaped(hits, (*[1] * axis, *index.shape, *[1] * len(after), size))
    rows = rearranged(data, lambda array: np.moveaxis(array, axis, -1))
    rows = reshaped(rows, (*before, *[1] * len(index.shape), *after, size))
    ctx.check_size(node, math.prod((*before, *index.shape, *after, size)))
    ctx.bind(node, taken(ctx, node, rows, hits, -1))


def refuse_wider(
    ctx: LiftingContext, node: Node, index: tuple[int, ...], data: tuple[int, ...], axis: int
) -> None:
    """Refuse indices of a shape that is not within the data's beside the axis of their places."""
    within = [size <= most or at == axis for at, (size, most) in enumerate(zip(index, data))]  # noqa: B905
    if len(index) != len(data) or not all(within):
        ctx.fail(node, f"its indices have the shape {list(index)}, its data {list(data)}")


def gather_elements_at(ctx: LiftingContext, node: Node, axis: int) -> None:
    """Bind the elements at computed places along one axis.

    Raises:
        ModelError: that axis is the batch, or constants are not the same for each sample.
    """
    tensors = Algebra(ctx, node)
    data, index = tensors.input(0), tensors.input(1)
    axis = axis_of(ctx, node, axis, len(data.shape))
    if not isinstance(data, Value) and data.shape[0] != 1:
        ctx.refuse_batch(node)
    refuse_wider(ctx, node, index.shape, data.shape, axis)
    inside = (*(slice(size) for size in index.shape[:axis]), slice(None))
    inside += tuple(slice(size) for size in index.shape[axis + 1 :])
    hits = places_hit(ctx, node, index, data.shape[axis])
    hits = rearranged(hits, lambda array: np.moveaxis(array, axis, -2))
    rows = rearranged(data, lambda array: np.moveaxis(array[inside], axis, -1)[..., None, :])
    found = taken(ctx, node, rows, hits, -1)
    ctx.bind(node, rearranged(found, lambda array: np.moveaxis(array, -1, axis)))


def taken(ctx: LiftingContext, node: Node, rows: Operand, hits: Operand, axis: int) -> Operand:
    """The sum along an axis of the elements for which there is a 1, the others being 0."""
    tensors = Algebra(ctx, node)

    def choose(elements: Sequence[Operand]) -> Operand:
        products = tensors("mul", hits, *elements)
        return tensors.reduced("sum", products, (axis,), keepdims=False)

    return chosen_of_several(ctx, node, rows, hits, choose)


def places_hit(ctx: LiftingContext, node: Node, index: Operand, size: int) -> Operand:
    """As `hits_at`, of the second input; without comparisons where places were made of a choice."""
    known = ctx.facts[node.input[1]].chosen
    if known is not None and known.shape == (*index.shape, size):
        return known
    return hits_at(ctx, node, index, size)


def hits_at(ctx: LiftingContext, node: Node, index: Operand, size: int) -> Operand:
    """For each place, 1 in the one of `size` elements that it is, also if counted from the end.

    Args:
        ctx: the import.
        node: the node.
        index: the places.
        size: how many elements there are, along a new last axis of the result.
    """
    if not isinstance(index, Value) or not index.elementwise:
        return _compared(ctx, node, index, size)
    key = (index.signals.tobytes(), index.shape, index.formula, size)
    if key not in ctx.hits:
        ctx.hits[key] = _compared(ctx, node, index, size)
    return ctx.hits[key]


def _compared(ctx: LiftingContext, node: Node, index: Operand, size: int) -> Operand:
    tensors = Algebra(ctx, node)
    ctx.check_size(node, math.prod(index.shape) * size)
    spread = rearranged(index, lambda array: array[..., None])
    distance = tensors("sub", spread, np.arange(size, dtype=np.float64))
    hit = call("either", equal(VARIABLE, 0.0), equal(VARIABLE, -float(size)))
    return formula_of(ctx, distance, call("number", hit))
