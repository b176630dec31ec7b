"""Tile, Pad, DepthToSpace, Trilu and their kind: elements move, or give way to constants.

Moving elements costs no neuron; a constant that comes in is one.
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Operand, Value, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.operators.algebra import rearranged

_IMAGE = 4  # the batch, the channels, and two axes of space


class Expand(Node):
    """X broadcast to a constant shape: repeated along axes of length 1 and along new ones."""

    inputs = (2, 2)
    shape_inputs = frozenset({1})
    since = 13


class Tile(Node):
    """X repeated a constant number of times along each axis; not along the batch."""

    inputs = (2, 2)
    since = 13


class PadAttributes(Attributes):
    """Attributes of Pad: where the values of the new elements come from."""

    mode: Literal["constant", "reflect", "edge", "wrap"] = "constant"


class Pad(Node):
    """Data, pads, the value of the new elements, and the axes that are padded."""

    inputs = (2, 4)
    since = 13
    attributes: PadAttributes = PadAttributes.defaults()


class DepthToSpaceAttributes(Attributes):
    """Attributes of DepthToSpace: the block size, and the order of blocks and channels."""

    blocksize: int
    mode: Literal["DCR", "CRD"] = "DCR"


class DepthToSpace(Node):
    """[N, C·b², H, W] as [N, C, H·b, W·b]: channels become blocks of b × b positions."""

    since = 13
    attributes: DepthToSpaceAttributes


class SpaceToDepthAttributes(Attributes):
    """Attributes of SpaceToDepth: the block size."""

    blocksize: int


class SpaceToDepth(Node):
    """[N, C, H·b, W·b] as [N, C·b², H, W]: blocks of b × b positions become channels."""

    since = 13
    attributes: SpaceToDepthAttributes


class TriluAttributes(Attributes):
    """Attributes of Trilu: whether the upper or the lower triangle is kept."""

    upper: Literal[0, 1] = 1


class Trilu(Node):
    """X with 0 on one side of a diagonal of its last two axes; the diagonal is constant."""

    inputs = (1, 2)
    since = 14
    attributes: TriluAttributes = TriluAttributes.defaults()


class ReverseSequenceAttributes(Attributes):
    """Attributes of ReverseSequence: the axis of time and that of the batch, 0 and 1."""

    batch_axis: Literal[0, 1] = 1
    time_axis: Literal[0, 1] = 0


class ReverseSequence(Node):
    """X with the first steps of each sequence reversed, in constant lengths."""

    inputs = (2, 2)
    since = 10
    attributes: ReverseSequenceAttributes = ReverseSequenceAttributes.defaults()


class CompressAttributes(Attributes):
    """Attributes of Compress: the axis; None for the flattened input."""

    axis: int | None = None


class Compress(Node):
    """The elements along an axis where a constant condition is true."""

    inputs = (2, 2)
    since = 11
    attributes: CompressAttributes = CompressAttributes.defaults()


class CenterCropPadAttributes(Attributes):
    """Attributes of CenterCropPad: the axes; None for all."""

    axes: tuple[int, ...] | None = None


class CenterCropPad(Node):
    """X cropped to its centre, or padded with 0 around it, to constant sizes."""

    inputs = (2, 2)
    since = 18
    attributes: CenterCropPadAttributes = CenterCropPadAttributes.defaults()


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
    if not -rank <= axis < rank:
        ctx.fail(node, f"its axis is {axis}, and its input has {rank}")
    ctx.refuse_batch(node, [axis % rank])
    return axis % rank


@lifts(Expand)
def lift_expand(ctx: LiftingContext, node: Expand) -> None:
    """Lift Expand: the signals are broadcast, without neurons."""
    operand, wanted = ctx.operand(node, 0), tuple(ctx.integers(node, 1))
    shape = np.broadcast_shapes(operand.shape, wanted)
    ctx.check_size(node, math.prod(shape))
    if isinstance(operand, Value) and (len(shape), shape[:1]) != (
        len(operand.shape),
        operand.shape[:1],
    ):
        ctx.refuse_batch(node, [0])
    ctx.bind(node, rearranged(operand, lambda array: np.broadcast_to(array, shape)))


@lifts(Tile)
def lift_tile(ctx: LiftingContext, node: Tile) -> None:
    """Lift Tile: the signals are repeated, without neurons."""
    operand, repeats = ctx.operand(node, 0), ctx.integers(node, 1)
    if len(repeats) != len(operand.shape) or min(repeats, default=0) < 0:
        ctx.fail(node, f"repeats {repeats} do not fit an input of {len(operand.shape)} axes")
    ctx.check_size(node, math.prod(operand.shape) * math.prod(repeats))
    if repeats[0] != 1:
        ctx.refuse_batch(node, [0])
    ctx.bind(node, rearranged(operand, lambda array: np.tile(array, repeats)))


# --- padding -------------------------------------------------------------------------------------


@lifts(Pad)
def lift_pad(ctx: LiftingContext, node: Pad) -> None:
    """Lift Pad: signals inside, constants or other signals around them."""
    operand, mode = ctx.operand(node, 0), node.attributes.mode
    rank = len(operand.shape)
    axes = range(rank) if ctx.optional(node, 3) is None else ctx.integers(node, 3)
    pads = ctx.integers(node, 1)
    if len(pads) != 2 * len(axes) or any(not -rank <= axis < rank for axis in axes):
        ctx.fail(node, f"pads {pads} do not fit the axes {list(axes)} of {rank}")
    widths = [(0, 0)] * rank
    for axis, width in zip(axes, zip(pads[: len(axes)], pads[len(axes) :], strict=True),
                           strict=True):  # fmt: skip
        widths[axis] = width
    if any(widths[0]):
        ctx.refuse_batch(node, [0])
    _check_widths(ctx, node, operand.shape, widths)
    if mode == "constant":
        fill = ctx.optional(node, 2)
        ctx.bind(node, padded(ctx, node, operand, widths, fill))
        return
    ctx.bind(node, rearranged(operand, lambda array: np.pad(array, widths, mode)))


def _check_widths(
    ctx: LiftingContext, node: Pad, shape: tuple[int, ...], widths: list[tuple[int, int]]
) -> None:
    mode = node.attributes.mode
    for size, (before, after) in zip(shape, widths, strict=True):
        most = {"reflect": size - 1, "wrap": size}.get(mode, max(before, after))
        if max(before, after) > most or (mode == "edge" and not size):
            ctx.fail(node, f"pads {before} and {after} of {size} elements in the mode {mode}")
        if min(before, after) < 0 and mode != "constant":
            ctx.fail(node, f"pads are {before} and {after}, expected numbers from 0")
        if size + before + after < 0:
            ctx.fail(node, f"pads {before} and {after} take more than the {size} elements")
    sizes = (size + before + after for size, (before, after) in zip(shape, widths, strict=True))
    ctx.check_size(node, math.prod(sizes))


def padded(
    ctx: LiftingContext,
    node: Node,
    operand: Operand,
    widths: Sequence[tuple[int, int]],
    fill: Operand | None = None,
) -> Operand:
    """A tensor with more elements before and after along each axis, or fewer, where negative."""
    inside = tuple(
        slice(max(-before, 0), size - max(-after, 0))
        for size, (before, after) in zip(operand.shape, widths, strict=True)
    )
    more = [(max(before, 0), max(after, 0)) for before, after in widths]
    kept = rearranged(operand, lambda array: array[inside])
    if not any(map(any, more)):
        return kept
    value = np.zeros(()) if fill is None else fill
    if math.prod(value.shape) != 1:
        ctx.fail(node, "the value that it pads with is not a single number")

    def change(array: Array, single: Array) -> Array:
        return np.pad(array, more, constant_values=single.reshape(()).item())

    return combined(ctx, node, [kept, value], change)


@lifts(CenterCropPad)
def lift_center_crop_pad(ctx: LiftingContext, node: CenterCropPad) -> None:
    """Lift CenterCropPad: a slice of the signals, and zeros around it."""
    operand, wanted = ctx.operand(node, 0), ctx.integers(node, 1)
    rank = len(operand.shape)
    given = node.attributes.axes
    axes = [axis % rank for axis in (range(rank) if given is None else given)]
    widths = [(0, 0)] * rank
    for axis, size in zip(axes, wanted, strict=True):
        more = size - operand.shape[axis]
        if more:
            ctx.refuse_batch(node, [axis])
        less = abs(more) // 2  # the odd one is at the end
        widths[axis] = (less, more - less) if more >= 0 else (-less, more + less)
    ctx.check_size(node, math.prod(wanted))
    ctx.bind(node, padded(ctx, node, operand, widths))


# --- moved ---------------------------------------------------------------------------------------


@lifts(DepthToSpace)
def lift_depth_to_space(ctx: LiftingContext, node: DepthToSpace) -> None:
    """Lift DepthToSpace: a rearrangement of signals."""
    operand, size = ctx.operand(node, 0), node.attributes.blocksize
    batch, channels, height, width = _image(ctx, node, operand)
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
    if len(operand.shape) == 2:
        ctx.refuse_batch(node, [0])
    (offset,) = [0] if ctx.optional(node, 1) is None else ctx.integers(node, 1)
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
    time, batch = node.attributes.time_axis, node.attributes.batch_axis
    if time == batch or len(operand.shape) < 2:
        ctx.fail(node, f"time_axis is {time}, batch_axis {batch}, of {len(operand.shape)} axes")
    ctx.refuse_batch(node, [0])
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
        ctx.refuse_batch(node, [0])
    else:
        axis = axis_of(ctx, node, axis, len(operand.shape))
    ctx.bind(node, rearranged(operand, lambda array: np.asarray(np.compress(wanted, array, axis))))
