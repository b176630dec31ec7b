"""GridSample and Col2Im: sums of elements with constant weights.

GridSample at computed places is in `computed_places.py`: its weights are computed, too.
"""

import math
from functools import partial
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Value, lifts
from neat_onnx.lifting.followed_axes import FEATURE, AxisFollower, FollowedAxes, follows
from neat_onnx.model import Attributes, Node
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.operators.algebra import Algebra, rearranged, reshaped
from neat_onnx.operators.layout.arranging import combined
from neat_onnx.operators.spatial.computed_places import sample_at_computed
from neat_onnx.operators.spatial.resize import cubic

_CUBIC = -0.75


class GridSampleAttributes(Attributes):
    """Attributes of GridSample: the interpolation, and the padding."""

    align_corners: Literal[0, 1] = 0
    mode: Literal["linear", "nearest", "cubic", "bilinear", "bicubic"] = "linear"
    padding_mode: Literal["zeros", "border", "reflection"] = "zeros"


class GridSample(Node):
    """Values between the elements of an image, at places from −1 to 1."""

    inputs = (2, 2)
    since = 16
    unaligned = 0
    attributes: GridSampleAttributes = GridSampleAttributes.defaults()


class Col2ImAttributes(Attributes):
    """Attributes of Col2Im: how blocks lie in the image."""

    dilations: tuple[int, ...] | None = None
    pads: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None


class Col2Im(Node):
    """Columns of blocks added up to images of a constant size."""

    inputs = (3, 3)
    since = 18
    attributes: Col2ImAttributes = Col2ImAttributes.defaults()


# --- GridSample ----------------------------------------------------------------------------------


@lifts(GridSample)
def lift_grid_sample(ctx: LiftingContext, node: GridSample) -> None:
    """Each place is a sum of the elements around it."""
    if isinstance(ctx.operand(node, 1), Value):
        given, corners = node.attributes, bool(node.attributes.align_corners)
        sample_at_computed(ctx, node, given.mode, given.padding_mode, corners=corners)
        return
    tensors, grid = Algebra(ctx, node), ctx.constant(node, 1)
    x = tensors.input(0)
    ctx.refuse_along(node, range(2, len(x.shape)))
    sizes, count = x.shape[2:], x.shape[0]
    if grid.ndim != len(x.shape) or grid.shape[-1] != len(sizes) or len(grid) != count:
        ctx.fail(node, f"its input has the shape {list(x.shape)}, its grid {list(grid.shape)}")
    cubic = node.attributes.mode in ("cubic", "bicubic")
    if cubic and node.attributes.padding_mode == "border" and np.any(np.abs(grid) > 1):
        ctx.fail(node, "mode: cubic of places beyond a border that is repeated: runtimes differ")
    flat = reshaped(x, (*x.shape[:2], math.prod(sizes)))
    results = []
    for sample, places in enumerate(grid.reshape(count, -1, len(sizes))):
        column, weight = _around(node.attributes, places.astype(np.float32), sizes)
        row = np.broadcast_to(np.arange(len(places))[:, None], column.shape)
        one = rearranged(flat, partial(np.take, indices=sample, axis=0))
        results.append(tensors.weighed(one, len(places), row, column, weight))
    shape = (*x.shape[:2], *grid.shape[1:-1])
    ctx.bind(node, reshaped(combined(ctx, node, results, lambda *each: np.stack(each)), shape))


def _around(
    given: GridSampleAttributes, grid: Floats, sizes: tuple[int, ...]
) -> tuple[Ints, Floats]:
    """The elements that each place (places, axes) is a sum of, and their weights."""
    column, weight = np.zeros((len(grid), 1), np.int64), np.ones((len(grid), 1))
    for axis, size in enumerate(sizes):
        taps, shares = _along_axis(given, grid[:, -1 - axis], size)
        column = (column[:, :, None] * size + taps[:, None]).reshape(len(grid), -1)
        weight = (weight[:, :, None] * shares[:, None]).reshape(len(grid), -1)
    return column, weight


def _along_axis(given: GridSampleAttributes, places: Floats, size: int) -> tuple[Ints, Floats]:
    """The elements around places from -1 to 1 along one axis, and their weights."""
    corners, padding = given.align_corners, given.padding_mode
    low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
    one, two, length = np.float32(1), np.float32(2), np.float32(size)
    x = (places + one) / two * (length - one) if corners else ((places + one) * length - one) / two
    x = np.rint(x) if given.mode == "nearest" else x
    outside = (x < low) | (x > high)
    if padding == "border":
        x = np.where(outside, np.clip(x, 0, size - 1), x)
    elif padding == "reflection":
        x = np.where(outside, _reflected(x, low, high), x)
    first = np.floor(x).astype(np.int64)
    part = (x - first).astype(np.float64)
    if given.mode == "nearest":
        offsets, shares = [0], np.ones((len(x), 1))
    elif given.mode in ("linear", "bilinear"):
        offsets, shares = [0, 1], np.stack([1 - part, part], axis=1)
    else:
        offsets = [-1, 0, 1, 2]
        shares = cubic(part[:, None] - np.array(offsets), _CUBIC)
    taps = first[:, None] + np.array(offsets)
    if padding == "zeros":
        shares = np.where((taps >= 0) & (taps < size), shares, 0.0)
    elif padding == "reflection":
        beyond = (taps < low) | (taps > high)
        taps = np.where(beyond, _reflected(taps, low, high), taps).astype(np.int64)
    return np.clip(taps, 0, size - 1), shares


def _reflected(x: Floats | Ints, low: float, high: float) -> Floats:
    """Places folded back at both borders until they are between them."""
    width = high - low
    if width == 0:
        return np.full(np.shape(x), low)
    distance = np.where(x < low, low - x, x - high)
    turns, rest = np.floor(distance / width), np.mod(distance, width)
    from_low = (x < low) == (turns % 2 == 0)
    return np.where(from_low, low + rest, high - rest)


# --- Col2Im --------------------------------------------------------------------------------------


@lifts(Col2Im)
def lift_col2im(ctx: LiftingContext, node: Col2Im) -> None:
    """Each element of the image is a sum of those that blocks put there."""
    tensors, image, block = Algebra(ctx, node), ctx.integers(node, 1), ctx.integers(node, 2)
    x, rank, given = tensors.input(0), len(image), node.attributes
    ctx.refuse_along(node, (1, 2))
    dilations, strides = given.dilations or (1,) * rank, given.strides or (1,) * rank
    pads = given.pads or (0,) * (2 * rank)
    if not len(block) == len(dilations) == len(strides) == rank == len(pads) // 2:
        ctx.fail(node, f"its image has {rank} axes, its block, strides, pads or dilations others")
    steps = [
        (size + pads[axis] + pads[axis + rank] - dilations[axis] * (block[axis] - 1) - 1)
        // strides[axis] + 1
        for axis, size in enumerate(image)
    ]  # fmt: skip
    area = math.prod(block)
    if len(x.shape) != 3 or x.shape[1] % area or x.shape[2] != math.prod(steps):
        ctx.fail(node, f"its input has the shape {list(x.shape)}, of blocks {block} at {steps}")
    place: Array = np.zeros((1, 1), np.int64)
    inside: Array = np.ones((1, 1), np.bool_)
    for axis, size in enumerate(image):
        at = np.arange(block[axis])[:, None] * dilations[axis] - pads[axis]
        at = at + np.arange(steps[axis]) * strides[axis]
        place = _joined(place * size, at, np.add)
        inside = _joined(inside, (at >= 0) & (at < size), np.logical_and)
    column = np.flatnonzero(inside)
    row, shape = place.ravel()[column], (x.shape[0], x.shape[1] // area)
    flat = reshaped(x, (*shape, place.size))
    found = tensors.weighed(flat, math.prod(image), row, column, np.ones(len(column)))
    ctx.bind(node, reshaped(found, (*shape, *image)))


def _joined(one: Array, other: Array, join: np.ufunc) -> Array:
    """Two tables (blocks, steps) joined, the second inside of the first."""
    joined: Array = join(one[:, None, :, None], other[None, :, None, :])
    return joined.reshape(len(one) * len(other), -1)


@follows(Col2Im)
def followed_images(axes: AxisFollower, node: Col2Im) -> list[FollowedAxes]:
    """The batch, the channels, and the image."""
    rank = axes.rank(node.output[0])
    return [(*axes.of(node.input[0])[:1], *(FEATURE,) * (rank - 1))]
