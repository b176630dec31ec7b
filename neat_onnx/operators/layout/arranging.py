"""Tile, DepthToSpace, Trilu and their kind: elements move, or give way to constants.

Moving elements costs no neuron; a constant that comes in is one.
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Operand, Value, lifts
from neat_onnx.lifting.followed_axes import UNKNOWN
from neat_onnx.lifting.registry import never_lifted
from neat_onnx.model import Attributes, Node
from neat_onnx.model.budget import Budget
from neat_onnx.operators.algebra import rearranged
from neat_onnx.operators.layout.each_step import at_each_step

_IMAGE = 4  # the batch, the channels, and two axes of space


class Expand(Node):
    """X broadcast to a constant shape: repeated along axes of length 1 and along new ones."""

    inputs = (2, 2)
    shape_inputs = frozenset({1})
    since = 13
    picks = True


class Tile(Node):
    """X repeated a constant number of times along each axis; not along the batch."""

    inputs = (2, 2)
    since = 13
    shape_inputs = frozenset({1})
    picks = True


class DepthToSpaceAttributes(Attributes):
    """Attributes of DepthToSpace: the block size, and the order of blocks and channels."""

    blocksize: int
    mode: Literal["DCR", "CRD"] = "DCR"


class DepthToSpace(Node):
    """[N, C·b², H, W] as [N, C, H·b, W·b]: channels become blocks of b × b positions."""

    since = 13
    picks = True
    attributes: DepthToSpaceAttributes


class SpaceToDepthAttributes(Attributes):
    """Attributes of SpaceToDepth: the block size."""

    blocksize: int


class SpaceToDepth(Node):
    """[N, C, H·b, W·b] as [N, C·b², H, W]: blocks of b × b positions become channels."""

    since = 13
    picks = True
    attributes: SpaceToDepthAttributes


class TriluAttributes(Attributes):
    """Attributes of Trilu: whether the upper or the lower triangle is kept."""

    upper: Literal[0, 1] = 1


class Trilu(Node):
    """X with 0 on one side of a diagonal of its last two axes; the diagonal is constant."""

    inputs = (1, 2)
    since = 14
    exact = True
    attributes: TriluAttributes = TriluAttributes.defaults()


class ReverseSequenceAttributes(Attributes):
    """Attributes of ReverseSequence: the axis of time and that of the batch, 0 and 1."""

    batch_axis: Literal[0, 1] = 1
    time_axis: Literal[0, 1] = 0


class ReverseSequence(Node):
    """X with the first steps of each sequence reversed, in constant lengths."""

    inputs = (2, 2)
    since = 10
    picks = True
    attributes: ReverseSequenceAttributes = ReverseSequenceAttributes.defaults()


for counted in ("NonZero", "Size", "Unique"):
    never_lifted(
        counted,
        "How many elements there are depends on the inputs, and neurons are fixed: leave this step "
        "out of the model. If it is scikit-learn's KNNImputer, a SimpleImputer can be imported",
    )


class CompressAttributes(Attributes):
    """Attributes of Compress: the axis; None for the flattened input."""

    axis: int | None = None


class Compress(Node):
    """The elements along an axis where a constant condition is true."""

    inputs = (2, 2)
    since = 11
    picks = True
    attributes: CompressAttributes = CompressAttributes.defaults()


def combined(
    ctx: LiftingContext, node: Node, operands: Sequence[Operand], change: Callable[..., Array]
) -> Operand:
    """Elements of several operands in one tensor: `change` arranges arrays of any numbers.

    Constants become neurons without inputs where something else is computed.
    """
    if not any(isinstance(operand, Value) for operand in operands):
        return change(*operands)
    values = (ctx.as_value(node, operand) for operand in operands)
    return Value(change(*(ctx.materialize(value) for value in values)))


def axis_of(ctx: LiftingContext, node: Node, axis: int, rank: int) -> int:
    """An axis counted from 0.

    Raises:
        ModelError: there is no such axis, or it is the batch.
    """
    (found,) = ctx.axes(node, [axis], rank)
    ctx.refuse_along(node, [found])
    return found


@lifts(Expand, infinite=True)
def lift_expand(ctx: LiftingContext, node: Expand) -> None:
    """Lift Expand: the signals are broadcast, without neurons."""
    operand, wanted = ctx.operand(node, 0), ctx.integers(node, 1)
    if isinstance(operand, Value) and not ctx.features_only:
        wanted = _expanded_sample(ctx, node, operand.shape, wanted)
    shape = ctx.broadcast(node, operand.shape, tuple(wanted))
    Budget().take("elements", math.prod(shape), node.label)
    ctx.bind(node, rearranged(operand, lambda array: np.broadcast_to(array, shape)))


def _expanded_sample(
    ctx: LiftingContext, node: Expand, old: tuple[int, ...], wanted: list[int]
) -> list[int]:
    """The shape that one sample takes: no sample is repeated, nor anything else for each of them,
    but tensors without time are for each step.
    """
    rank = max(len(old), len(wanted))
    leading = [False] * (rank - len(old)) + ctx.leading(node.input[0])
    lost = UNKNOWN in ctx.followed.of(node.input[0])
    ones = [1] * (rank - len(old)) + list(old)
    sized = ctx.sizes.get(node.input[1], np.zeros(len(wanted), np.int64)).tolist()
    found = [1] * (rank - len(wanted)) + wanted
    sized = [0] * (rank - len(wanted)) + sized
    steps = at_each_step(ctx.followed, node.input[0], sized)
    for place, size in enumerate(found):
        if leading[place]:
            found[place] = ones[place] if size in (1, ctx.samples * ones[place]) else size
        repeats = leading[place] and found[place] != ones[place]
        new = sized[place] and not leading[place] and node.input[0] not in ctx.followed.shared
        if repeats or (new and not lost and place not in steps):
            ctx.refuse_batch(node)
    if lost and rank > len(old):
        ctx.refuse_batch(node)
    return found


@lifts(Tile)
def lift_tile(ctx: LiftingContext, node: Tile) -> None:
    """Lift Tile: the signals are repeated, without neurons."""
    operand, repeats = ctx.operand(node, 0), ctx.integers(node, 1)
    if len(repeats) != len(operand.shape) or min(repeats, default=0) < 0:
        ctx.fail(node, f"repeats {repeats} do not fit an input of {len(operand.shape)} axes")
    Budget().take("elements", math.prod(operand.shape) * math.prod(repeats), node.label)
    sized = ctx.sizes.get(node.input[1], np.zeros(len(repeats), np.int64))
    of_ones = not isinstance(operand, Value) and np.all(np.array(operand.shape)[sized != 0] == 1)
    new = {*np.flatnonzero(sized)}.difference(
        at_each_step(ctx.followed, node.input[0], sized.tolist())
    )
    if repeats[0] != 1 or (new and not of_ones):
        ctx.refuse_batch(node)
    ctx.bind(node, rearranged(operand, lambda array: np.tile(array, repeats)))


@lifts(DepthToSpace)
def lift_depth_to_space(ctx: LiftingContext, node: DepthToSpace) -> None:
    """Lift DepthToSpace: a rearrangement of signals."""
    operand, size = ctx.operand(node, 0), node.attributes.blocksize
    batch, channels, height, width = _image(ctx, node, operand)
    if channels % (size * size):
        ctx.fail(node, f"it has {channels} channels, and blocksize is {size}")
    inner = channels // (size * size)
    depth_first = node.attributes.mode == "DCR"
    parts = (size, size, inner) if depth_first else (inner, size, size)
    order = (0, 3, 4, 1, 5, 2) if depth_first else (0, 1, 4, 2, 5, 3)
    shape = (batch, inner, height * size, width * size)

    def change(array: Array) -> Array:
        return array.reshape(batch, *parts, height, width).transpose(order).reshape(shape)

    ctx.bind(node, rearranged(operand, change))


@lifts(SpaceToDepth)
def lift_space_to_depth(ctx: LiftingContext, node: SpaceToDepth) -> None:
    """Lift SpaceToDepth: a rearrangement of signals."""
    operand, size = ctx.operand(node, 0), node.attributes.blocksize
    batch, channels, height, width = _image(ctx, node, operand)
    if height % size or width % size:
        ctx.fail(node, f"its height is {height}, its width {width}, and blocksize {size}")
    split = (batch, channels, height // size, size, width // size, size)
    shape = (batch, channels * size * size, height // size, width // size)

    def change(array: Array) -> Array:
        return array.reshape(split).transpose(0, 3, 5, 1, 2, 4).reshape(shape)

    ctx.bind(node, rearranged(operand, change))


def _image(
    ctx: LiftingContext, node: DepthToSpace | SpaceToDepth, operand: Operand
) -> tuple[int, ...]:
    if len(operand.shape) != _IMAGE or node.attributes.blocksize < 1:
        shape, size = list(operand.shape), node.attributes.blocksize
        ctx.fail(node, f"its input has the shape {shape}, blocksize is {size}")
    return operand.shape


@lifts(Trilu)
def lift_trilu(ctx: LiftingContext, node: Trilu) -> None:
    """Lift Trilu: signals on one side of the diagonal, zeros on the other."""
    operand = ctx.operand(node, 0)
    if len(operand.shape) < 2:
        ctx.fail(node, f"its input has {len(operand.shape)} axes, expected 2 or more")
    ctx.refuse_along(node, ctx.axes(node, (-2, -1), len(operand.shape)), 0)
    offset = 0 if ctx.optional(node, 1) is None else ctx.integer_of(node, 1)
    upper = node.attributes.upper
    row, column = np.indices(operand.shape[-2:])
    kept = column - row >= offset if upper else column - row <= offset

    def change(array: Array, zero: Array) -> Array:
        return np.where(kept, array, zero)

    ctx.bind(node, combined(ctx, node, [operand, np.zeros(())], change))


@lifts(ReverseSequence)
def lift_reverse_sequence(ctx: LiftingContext, node: ReverseSequence) -> None:
    """Lift ReverseSequence: a rearrangement of signals along the axis of time."""
    operand, lengths = ctx.operand(node, 0), ctx.integers(node, 1)
    given = node.attributes
    time, batch = ctx.axes(node, [given.time_axis, given.batch_axis], len(operand.shape))
    if time == batch:
        ctx.fail(node, f"time_axis and batch_axis are {time}, expected different ones")
    ctx.refuse_along(node, [time])
    steps, count = operand.shape[time], operand.shape[batch]
    if len(lengths) != count or any(not 1 <= length <= steps for length in lengths):
        ctx.fail(node, f"the lengths {lengths} do not fit {count} sequences of {steps}")

    def change(array: Array) -> Array:
        moved = np.moveaxis(array, (batch, time), (0, 1)).copy()
        for row, length in zip(moved, lengths, strict=True):
            row[:length] = row[:length][::-1]
        return np.moveaxis(moved, (0, 1), (batch, time))

    ctx.bind(node, rearranged(operand, change))


@lifts(Compress)
def lift_compress(ctx: LiftingContext, node: Compress) -> None:
    """Lift Compress: a choice of signals."""
    operand, wanted = ctx.operand(node, 0), ctx.constant(node, 1).astype(np.bool_)
    axis = node.attributes.axis
    if axis is None:
        ctx.refuse_batch(node)
    else:
        axis = axis_of(ctx, node, axis, len(operand.shape))
    size = math.prod(operand.shape if axis is None else operand.shape[axis : axis + 1])
    if wanted.ndim != 1 or wanted[size:].any():
        ctx.fail(node, f"its condition has the shape {list(wanted.shape)}, for {size} elements")
    ctx.bind(node, rearranged(operand, lambda array: np.asarray(np.compress(wanted, array, axis))))
