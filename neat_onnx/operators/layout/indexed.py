"""GatherElements, GatherND, ScatterElements, ScatterND and OneHot, by constant indices.

Nothing is computed by those that gather; those that scatter combine elements by neurons where they
reduce. GatherND and OneHot read computed indices, too, by comparisons; `computed_scatters.py` has
those that scatter at computed places.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Value, lifts
from neat_onnx.lifting.followed_axes import FEATURE, FIRST
from neat_onnx.model import Attributes, Node
from neat_onnx.model.whole_numbers import are_whole
from neat_onnx.network.genes import Ints
from neat_onnx.operators.algebra import Algebra, rearranged, reshaped
from neat_onnx.operators.layout.arranging import axis_of, combined
from neat_onnx.operators.layout.lookup import hits_at, places_hit, refuse_wider, taken

Reduction = Literal["none", "add", "mul", "max", "min"]
PRIMITIVES = {"add": "add", "mul": "mul", "max": "maximum", "min": "minimum"}
"""The primitive of each reduction by which updates join the data."""


class GatherNDAttributes(Attributes):
    """Attributes of GatherND: how many leading axes indices and data share."""

    batch_dims: int = 0


class GatherND(Node):
    """The slices of the data at the indices, one for each row of the last axis."""

    inputs = (2, 2)
    since = 13
    picks = True
    attributes: GatherNDAttributes = GatherNDAttributes.defaults()


class ScatterElementsAttributes(Attributes):
    """Attributes of ScatterElements: the axis, and how updates join the data."""

    axis: int = 0
    reduction: Reduction = "none"


class ScatterElements(Node):
    """Data, indices, updates."""

    inputs = (3, 3)
    since = 13
    exact = True
    attributes: ScatterElementsAttributes = ScatterElementsAttributes.defaults()


class ScatterNDAttributes(Attributes):
    """Attributes of ScatterND: how updates join the data."""

    reduction: Reduction = "none"


class ScatterND(Node):
    """Data, indices, updates."""

    inputs = (3, 3)
    since = 13
    exact = True
    attributes: ScatterNDAttributes = ScatterNDAttributes.defaults()


class OneHotAttributes(Attributes):
    """Attributes of OneHot: the position of the new axis."""

    axis: int = -1


class OneHot(Node):
    """Indices, how many there are, and the numbers that say off and on."""

    inputs = (3, 3)
    since = 11
    exact = True
    attributes: OneHotAttributes = OneHotAttributes.defaults()


def indices_of(ctx: LiftingContext, node: Node, size: int) -> Ints:
    """Constant indices, the second input of a node, from 0.

    Raises:
        ModelError: they are no integers, or outside of `size`.
    """
    index = ctx.constant(node, 1)
    if index.dtype.kind not in "iu":
        ctx.fail(node, "its indices have to be of integers")
    found = index.astype(np.int64)
    if np.any(found < -size) or np.any(found >= size):
        ctx.fail(node, f"an index is outside of the {size} elements")
    return np.where(found < 0, found + size, found)


def gather_elements(ctx: LiftingContext, node: Node, axis: int) -> None:
    """Bind the elements at constant indices along an axis."""
    operand = ctx.operand(node, 0)
    axis = axis_of(ctx, node, axis, len(operand.shape))
    _refuse_other_samples(ctx, node, [0, 1], [k for k in range(len(operand.shape)) if k != axis])
    index = indices_of(ctx, node, operand.shape[axis])
    refuse_wider(ctx, node, index.shape, operand.shape, axis)
    inside = tuple(slice(size) for size in index.shape)
    kept = (*inside[:axis], slice(None), *inside[axis + 1 :])
    ctx.bind(node, rearranged(operand, lambda array: np.take_along_axis(array[kept], index, axis)))


def _refuse_other_samples(
    ctx: LiftingContext, node: Node, positions: Sequence[int], axes: Iterable[int]
) -> None:
    """Refuse constants that are there for some samples only, along the batch if that is an axis.

    Args:
        ctx: the import.
        node: the node.
        positions: of the inputs that have these axes in common.
        axes: those that pair up elements.
    """
    computed = [
        name for at in positions if isinstance(ctx.operands.get(name := node.input[at]), Value)
    ]
    if not computed:
        followed = {ctx.followed.of(node.input[at]) for at in positions}
        if len(followed) > 1 or FIRST not in min(followed):  # not made for each sample
            ctx.refuse_batch(node)
        return
    leading = ctx.leading(computed[0])
    for axis in axes:
        if leading[axis]:
            ctx.refuse_first_sample(node, positions, axis)


@lifts(GatherND)
def lift_gather_nd(ctx: LiftingContext, node: GatherND) -> None:
    """Lift GatherND: a choice of signals; by constant indices the first axis has to be features."""
    operand, batch = ctx.operand(node, 0), node.attributes.batch_dims
    if isinstance(ctx.operand(node, 1), Value):
        _gather_at(ctx, node, batch)
        return
    index = ctx.constant(node, 1)
    if node.input[1] in ctx.integer and are_whole(index):
        index = index.astype(np.int64)
    if not 0 <= batch < min(len(operand.shape), len(index.shape)):
        ctx.fail(node, f"batch_dims is {batch}, for {len(operand.shape)} axes")
    depth = index.shape[-1]
    is_table = not batch and not isinstance(operand, Value)  # for all samples, if not made of them
    if not is_table or any(axis != FEATURE for axis in ctx.followed.of(node.input[0])):
        _refuse_other_samples(ctx, node, [0, 1], range(batch))
    ctx.refuse_along(node, range(batch, batch + depth))
    sizes = operand.shape[batch : batch + depth]
    misfit = ctx.features_only and operand.shape[:batch] != index.shape[:batch]
    if misfit or index.dtype.kind != "i" or depth != len(sizes):
        ctx.fail(node, "its indices do not fit its input")
    _check_places(ctx, node, index, sizes)
    ctx.broadcast(node, operand.shape[:batch], index.shape[:batch])
    leading = np.indices(operand.shape[:batch])
    spread = index.shape[batch:-1]
    before = tuple(each.reshape(*each.shape, *[1] * len(spread)) for each in leading)
    at = (*before, *np.moveaxis(index, -1, 0))
    ctx.bind(node, rearranged(operand, lambda array: array[at]))


def _gather_at(ctx: LiftingContext, node: GatherND, batch: int) -> None:
    """Bind the slices at computed places along the axis after the shared ones."""
    tensors = Algebra(ctx, node)
    data, index = tensors.input(0), tensors.input(1)
    shared, spread = data.shape[:batch], index.shape[batch:-1]
    if index.shape[-1:] != (1,) or batch >= len(data.shape) or shared != index.shape[:batch]:
        shapes = f"{list(index.shape)} for data of {list(data.shape)}"
        ctx.fail(node, f"its computed indices have the shape {shapes}, expected one axis of places")
    ctx.refuse_along(node, [batch], 0)
    if not isinstance(data, Value) and batch and data.shape[0] != 1:
        ctx.refuse_batch(node)
    size, rest = data.shape[batch], data.shape[batch + 1 :]
    hits = places_hit(ctx, node, index, size)
    hits = reshaped(hits, (*shared, *spread, size, *[1] * len(rest)))
    rows = reshaped(data, (*shared, *[1] * len(spread), size, *rest))
    ctx.bind(node, taken(ctx, node, rows, hits, len(shared) + len(spread)))


def _check_places(ctx: LiftingContext, node: Node, index: Array, sizes: tuple[int, ...]) -> None:
    if np.any(index < -np.array(sizes)) or np.any(index >= np.array(sizes)):
        ctx.fail(node, f"an index is outside of the shape {list(sizes)}")


@lifts(ScatterElements, infinite=True)
def lift_scatter_elements(ctx: LiftingContext, node: ScatterElements) -> None:
    """Lift ScatterElements: elements in place of others; at computed places by choices."""
    data = ctx.operand(node, 0)
    axis = axis_of(ctx, node, node.attributes.axis, len(data.shape))
    _refuse_other_samples(ctx, node, [0, 1, 2], [k for k in range(len(data.shape)) if k != axis])
    if isinstance(ctx.operand(node, 1), Value):
        from neat_onnx.operators.layout.computed_scatters import (  # noqa: PLC0415 - of few models
            scatter_along,
        )

        scatter_along(ctx, node, axis, PRIMITIVES.get(node.attributes.reduction))
        return
    index = indices_of(ctx, node, data.shape[axis])
    updates = ctx.operand(node, 2)
    if index.shape != updates.shape:
        ctx.fail(node, f"the shapes of indices and updates differ: {index.shape}, {updates.shape}")
    at = np.indices(index.shape)
    at[axis] = index
    places = np.arange(math.prod(data.shape)).reshape(data.shape)[tuple(at)]
    _scatter(ctx, node, places.ravel(), node.attributes.reduction)


@lifts(ScatterND)
def lift_scatter_nd(ctx: LiftingContext, node: ScatterND) -> None:
    """Lift ScatterND: the first axis has to be features, and all axes where places are computed."""
    if isinstance(ctx.operand(node, 1), Value):
        from neat_onnx.operators.layout.computed_scatters import (  # noqa: PLC0415 - of few models
            scatter_slices,
        )

        ctx.refuse_batch(node)
        scatter_slices(ctx, node, PRIMITIVES.get(node.attributes.reduction))
        return
    data, index = ctx.operand(node, 0), ctx.constant(node, 1)
    depth = index.shape[-1]
    ctx.refuse_along(node, range(depth), 0)
    if not isinstance(ctx.operand(node, 2), Value):
        ctx.refuse_batch(node)
    elif not isinstance(data, Value):
        _refuse_one_sample(ctx, node, index.ndim - 1, depth)
    if index.dtype.kind != "i" or depth > len(data.shape):
        ctx.fail(node, "its indices do not fit its input")
    _check_places(ctx, node, index, data.shape[:depth])
    at = tuple(np.moveaxis(index, -1, 0))
    places = np.arange(math.prod(data.shape)).reshape(data.shape)[at]
    if math.prod(ctx.operand(node, 2).shape) != places.size:
        ctx.fail(node, "its updates do not fit its indices")
    _scatter(ctx, node, places.ravel(), node.attributes.reduction)


def _refuse_one_sample(ctx: LiftingContext, node: ScatterND, places: int, depth: int) -> None:
    """Refuse constant data that are not there for each sample of the updates.

    Args:
        ctx: the import.
        node: the node.
        places: how many leading axes of the updates say a place.
        depth: how many leading axes of the data a place is in.
    """
    for axis, is_batch in enumerate(ctx.leading(node.input[2])):
        if is_batch and axis < places:
            ctx.refuse_batch(node)
        elif is_batch:
            ctx.refuse_first_sample(node, [0], axis - places + depth)


def _scatter(ctx: LiftingContext, node: Node, places: Ints, reduction: Reduction) -> None:
    """Bind the data, with updates at `places`; the last one of equal places counts."""
    tensors = Algebra(ctx, node)
    data, updates = tensors.input(0), reshaped(tensors.input(2), (-1,))
    shape = data.shape
    flat = reshaped(data, (-1,))
    for one in _rounds(places):
        target = places[one]
        new = rearranged(updates, _taking(one))
        if reduction != "none":
            new = tensors(PRIMITIVES[reduction], rearranged(flat, _taking(target)), new)
        flat = combined(ctx, node, [flat, new], _placing(target))
    ctx.bind(node, reshaped(flat, shape))


def _taking(places: Ints) -> Callable[[Array], Array]:
    return lambda array: array[places]


def _placing(target: Ints) -> Callable[[Array, Array], Array]:
    def change(array: Array, new: Array) -> Array:
        changed = np.array(array)
        changed[target] = new
        return changed

    return change


def _rounds(places: Ints) -> list[Ints]:
    """Positions of updates, so that no place is met twice in a round, in their order."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    start = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    nth = np.arange(len(places)) - np.repeat(start, np.diff(np.append(start, len(places))))
    return [np.sort(order[nth == k]) for k in range(int(nth.max(initial=-1)) + 1)]


@lifts(OneHot)
def lift_one_hot(ctx: LiftingContext, node: OneHot) -> None:
    """Of computed indices as well: comparisons with each index from 0, and from the end."""
    tensors = Algebra(ctx, node)
    index, values = tensors.input(0), ctx.constant(node, 2).ravel()
    depth = int(ctx.single(node, 1))
    rank = len(index.shape) + 1
    axis = node.attributes.axis
    if not -rank <= axis < rank or depth < 1 or values.size != 2:
        ctx.fail(node, f"axis is {axis}, its depth {depth}, and it has {values.size} values")
    axis %= rank
    if axis == 0:
        ctx.refuse_batch(node)
    hits = hits_at(ctx, node, index, depth)
    off, on = (float(each) for each in values)
    if (off, on) != (0.0, 1.0):
        hits = tensors("add", tensors("mul", hits, on - off), off)
    ctx.bind(node, rearranged(hits, lambda array: np.moveaxis(array, -1, axis)))
