"""Reshape, Flatten, Squeeze and Unsqueeze: the same elements, in C order, in another shape.

Lifting them costs nothing; but the batch stays an axis of its own, or a part of one.
"""

import math
from collections.abc import Sequence

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Value, lifts
from neat_onnx.lifting.followed_axes import (
    FEATURE,
    AxisFollower,
    FollowedAxes,
    elements_before,
)
from neat_onnx.lifting.samples import reshaped_samples, whole_shape
from neat_onnx.operators.layout.shaping import (
    Flatten,
    Reshape,
    Squeeze,
    Unsqueeze,
    rearrange,
)


@lifts(Reshape, infinite=True)
def lift_reshape(ctx: LiftingContext, node: Reshape) -> None:
    """Lift Reshape: the same signals in another shape."""
    old = ctx.operand(node, 0).shape
    wanted = ctx.integers(node, 1)
    found = _shape_of_one(ctx, node)
    if found is None:
        _refuse_reordered(ctx, node, old, wanted)
        copied = 0 if node.attributes.allowzero else len(old)
        found = [old[k] if not size and k < copied else size for k, size in enumerate(wanted)]
    if not _holds(found, math.prod(old)):
        ctx.fail(node, f"its input has the shape {list(old)}, which cannot become {found}")
    rearrange(ctx, node, lambda array: array.reshape(found))


def _holds(shape: Sequence[int], count: int) -> bool:
    """Whether a shape, in which one size may be open as -1, has room for so many elements."""
    known = [size for size in shape if size != -1]
    room = math.prod(known)
    if min(known, default=0) < 0 or len(known) < len(shape) - 1:
        return False
    return room == count if len(known) == len(shape) else room > 0 and count % room == 0


def states_samples(axes: AxisFollower, node: Reshape | Flatten) -> bool:
    """Whether a shape is that of a fixed number of samples, of a tensor whose batch is known."""
    name = node.input[0]
    known = elements_before(axes.of(name), axes.operands[name].shape) is not None
    return axes.samples > 1 and known and axes.sizes.keys().isdisjoint(node.input[1:])


def shape_of_one(
    axes: AxisFollower, node: Reshape | Flatten
) -> tuple[list[int], FollowedAxes] | None:
    """The shape of one sample, and where the batch is in it; None where samples are mixed."""
    followed, shape = axes.of(node.input[0]), axes.operands[node.input[0]].shape
    whole = whole_shape(followed, shape, axes.samples)
    if isinstance(node, Flatten):
        wanted = [math.prod(whole[: node.attributes.axis]), -1]
    else:
        wanted = axes.integers(node, 1) or []
        copied = 0 if node.attributes.allowzero else len(whole)
        wanted[:copied] = [size or whole[axis] for axis, size in enumerate(wanted[:copied])]
    return reshaped_samples(followed, shape, wanted, axes.samples)


def _shape_of_one(ctx: LiftingContext, node: Reshape | Flatten) -> list[int] | None:
    """The shape of one sample, where a number of them is stated; else None."""
    if not states_samples(ctx.followed, node):
        return None
    found = shape_of_one(ctx.followed, node)
    if found is None:
        ctx.refuse_batch(node)
        return None
    return found[0]


def _refuse_reordered(
    ctx: LiftingContext, node: Reshape, old: tuple[int, ...], wanted: list[int]
) -> None:
    """Refuse a shape whose open axis has other elements before it than the batch had.

    [N, 6] as [-1, 3] has the rows of each sample beside each other; as [3, -1] it mixes samples.
    """
    followed = ctx.followed.of(node.input[0])
    before = elements_before(followed, old)
    if ctx.features_only or before is None or node.input[1] in ctx.sizes:
        return
    batch = next(at for at, axis in enumerate(followed) if axis != FEATURE)
    copied = batch < len(wanted) and not wanted[batch] and not node.attributes.allowzero
    if not copied and -1 not in wanted:
        return
    axis = batch if copied else wanted.index(-1)
    sizes = [old[k] if not size and k < len(old) else size for k, size in enumerate(wanted)]
    outer, rest = math.prod(sizes[:axis]), math.prod(sizes[:axis] + sizes[axis + 1 :])
    inner = before // outer if outer else 0
    open_size = math.prod(old) // rest if rest else 0  # of the axis with the batch, for one sample
    if not inner or before % outer or open_size % inner:
        ctx.refuse_batch(node)


@lifts(Flatten)
def lift_flatten(ctx: LiftingContext, node: Flatten) -> None:
    """Lift Flatten: the same signals as a matrix."""
    old, axis = ctx.operand(node, 0).shape, node.attributes.axis
    if axis != len(old):  # where it may end
        (axis,) = ctx.axes(node, [axis], len(old))
    found = _shape_of_one(ctx, node)
    if found is None:
        if isinstance(ctx.operand(node, 0), Value) and axis == 0:
            ctx.refuse_batch(node)
        found = [math.prod(old[:axis]), -1]
    rearrange(ctx, node, lambda array: array.reshape(found))


@lifts(Squeeze, infinite=True)
def lift_squeeze(ctx: LiftingContext, node: Squeeze) -> None:
    """Lift Squeeze: the same signals; the batch axis stays unless it is named."""
    shape = ctx.operand(node, 0).shape
    if ctx.optional(node, 1) is not None:
        axes = ctx.axes(node, ctx.integers(node, 1), len(shape))
        if any(shape[axis] != 1 for axis in axes) or len({*axes}) < len(axes):
            ctx.fail(node, f"its axes are {list(axes)}, of the shape {list(shape)}: expected axes "
                     "of size 1, each once")  # fmt: skip
    else:  # the batch has length 1 only because its size is not known here
        kept = [not ctx.features_only and batch for batch in ctx.leading(node.input[0])]
        axes = tuple(k for k, size in enumerate(shape) if size == 1 and not kept[k])
    rearrange(ctx, node, lambda array: np.squeeze(array, axes))


@lifts(Unsqueeze, infinite=True)
def lift_unsqueeze(ctx: LiftingContext, node: Unsqueeze) -> None:
    """Lift Unsqueeze: the same signals with new axes."""
    axes = tuple(ctx.integers(node, 1))
    rank = len(ctx.operand(node, 0).shape) + len(axes)
    if len({axis % rank for axis in axes if -rank <= axis < rank}) < len(axes):
        ctx.fail(node, f"its axes are {list(axes)}, expected different ones of {rank}")
    rearrange(ctx, node, lambda array: np.expand_dims(array, axes))
