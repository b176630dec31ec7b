"""Pad and CenterCropPad: constants, or other elements, around the elements of a tensor."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Operand, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.operators.algebra import rearranged
from neat_onnx.operators.layout.arranging import combined


class PadAttributes(Attributes):
    """Attributes of Pad: where the values of the new elements come from."""

    mode: Literal["constant", "reflect", "edge", "wrap"] = "constant"


class Pad(Node):
    """Data, pads, the value of the new elements, and the axes that are padded."""

    inputs = (2, 4)
    since = 13
    exact = True
    attributes: PadAttributes = PadAttributes.defaults()


class CenterCropPadAttributes(Attributes):
    """Attributes of CenterCropPad: the axes; None for all."""

    axes: tuple[int, ...] | None = None


class CenterCropPad(Node):
    """X cropped to its centre, or padded with 0 around it, to constant sizes."""

    inputs = (2, 2)
    since = 18
    exact = True
    attributes: CenterCropPadAttributes = CenterCropPadAttributes.defaults()


@lifts(Pad, infinite=True)
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
    if any(any(width) and ctx.is_batch(node.input[0], axis) for axis, width in enumerate(widths)):
        ctx.refuse_batch(node)
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
    axes = ctx.axes(node, range(rank) if given is None else given, rank)
    if len(axes) != len(wanted):
        ctx.fail(node, f"it has {len(wanted)} sizes for {len(axes)} axes")
    widths = [(0, 0)] * rank
    for axis, size in zip(axes, wanted, strict=True):
        more = size - operand.shape[axis]
        if ctx.is_batch(node.input[0], axis):
            ctx.refuse_batch(node)
        less = abs(more) // 2  # the odd one is at the end
        widths[axis] = (less, more - less) if more >= 0 else (-less, more + less)
    ctx.check_size(node, math.prod(wanted))
    ctx.bind(node, padded(ctx, node, operand, widths))
