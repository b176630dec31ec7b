"""ScatterElements and ScatterND at computed places: a choice for each update and element."""

import math
from collections.abc import Callable

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Operand
from neat_onnx.model import Node
from neat_onnx.operators.algebra import Algebra, rearranged, reshaped
from neat_onnx.operators.layout.lookup import hits_at, places_hit


def scatter_along(ctx: LiftingContext, node: Node, axis: int, joining: str | None) -> None:
    """Bind the data, with an update at each computed place; the last one of equal places counts.

    Args:
        joining: the primitive by which an update joins the element there, in place of it if None.
    """
    tensors = Algebra(ctx, node)
    found, index, updates = (tensors.input(position) for position in range(3))
    shape = (*found.shape[:axis], *index.shape[axis : axis + 1], *found.shape[axis + 1 :])
    if not shape == index.shape == updates.shape:
        ctx.fail(node, "its places are computed, and do not go with its data")
    hits = places_hit(ctx, node, index, found.shape[axis])
    for k in range(index.shape[axis]):
        hit = rearranged(hits, _one_place(k, axis))
        found = _joined(tensors, found, hit, rearranged(updates, _taking_along(k, axis)), joining)
    ctx.bind(node, found)


def scatter_slices(ctx: LiftingContext, node: Node, joining: str | None) -> None:
    """Bind the data, with a slice of the updates at each computed place along its first axes.

    Args:
        joining: as for `scatter_along`.
    """
    tensors = Algebra(ctx, node)
    found, index, updates = (tensors.input(position) for position in range(3))
    depth = index.shape[-1] if index.shape else 0
    places, rest = index.shape[:-1], found.shape[depth:]
    if not 0 < depth <= len(found.shape) or updates.shape != (*places, *rest):
        ctx.fail(node, "its places are computed, and do not go with its data")
    count, sizes = math.prod(places), found.shape[:depth]
    index = reshaped(index, (count, depth))
    updates = reshaped(updates, (count, *[1] * depth, *rest))
    hits: Operand = np.ones((count, *[1] * len(found.shape)))
    for k, size in enumerate(sizes):
        each = hits_at(ctx, node, rearranged(index, _column(k)), size)
        along = [1] * len(found.shape)
        along[k] = size
        each = reshaped(each, (count, *along))
        hits = each if k == 0 else tensors("mul", hits, each)
    for k in range(count):
        hit, new = (rearranged(each, _taking_row(k)) for each in (hits, updates))
        found = _joined(tensors, found, hit, new, joining)
    ctx.bind(node, found)


def _joined(
    tensors: Algebra, found: Operand, hit: Operand, new: Operand, joining: str | None
) -> Operand:
    """The data with an update in the elements that it hits."""
    if joining == "add":
        return tensors("add", found, tensors("mul", hit, new))
    if joining is not None:
        new = tensors(joining, found, new)
    return tensors("where", tensors("greater", hit, 0.5), new, found)


def _one_place(k: int, axis: int) -> Callable[[Array], Array]:
    return lambda array: np.moveaxis(np.take(array, k, axis=axis), -1, axis)


def _taking_along(k: int, axis: int) -> Callable[[Array], Array]:
    return lambda array: np.take(array, [k], axis=axis)


def _column(k: int) -> Callable[[Array], Array]:
    return lambda array: array[:, k]


def _taking_row(k: int) -> Callable[[Array], Array]:
    return lambda array: array[k]
