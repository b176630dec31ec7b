"""Resize to fixed sizes: nearest elements are moved, interpolation is neurons that weigh them.

Along each axis apart, output o looks at the coordinate x(o) of the input. Coordinates are computed
in float32, as runtimes compute them: where one is half-way between two elements, that decides.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.network.genes import Floats
from neat_onnx.operators.algebra import Algebra, rearranged

_ROI, _SCALES, _SIZES = 1, 2, 3
_HALF = np.float32(0.5)


class ResizeAttributes(Attributes):
    """Attributes of Resize: interpolation, rounding, and the map of positions to the input."""

    antialias: Literal[0, 1] = 0
    axes: tuple[int, ...] | None = None
    coordinate_transformation_mode: Literal[
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_half_pixel_for_nn",
    ] = "half_pixel"
    cubic_coeff_a: float = -0.75
    exclude_outside: Literal[0, 1] = 0
    extrapolation_value: float = 0.0
    keep_aspect_ratio_policy: Literal["stretch", "not_larger", "not_smaller"] = "stretch"
    mode: Literal["nearest", "linear", "cubic"] = "nearest"
    nearest_mode: Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"] = (
        "round_prefer_floor"
    )


class Resize(Node):
    """Data, then the region that is read (of no meaning here), scales, sizes.

    extrapolation_value is for another coordinate mode, which is refused.
    """

    inputs = (1, 4)
    shape_inputs = frozenset({3})
    since = 13
    attributes: ResizeAttributes = ResizeAttributes.defaults()


@lifts(Resize)
def lift_resize(ctx: LiftingContext, node: Resize) -> None:
    """Lift Resize: each element is a weighted sum of elements, with constant sizes or scales."""
    tensors, given = Algebra(ctx, node), node.attributes
    x, whole = tensors.input(0), ctx.whole_shape(node.input[0])
    for axis, (scale, size) in _scales(ctx, node, whole).items():
        if scale == 1.0 and size == whole[axis]:
            continue
        ctx.refuse_along(node, [axis], 0)
        others = int(np.prod(x.shape, dtype=object)) // x.shape[axis]
        ctx.check_size(node, max(others, 1 if given.mode == "nearest" else x.shape[axis]) * size)
        at = _coordinates(given, scale, x.shape[axis], size)
        x = _along(ctx, node, tensors, x, axis, (at, scale))
    ctx.bind(node, x)


def _along(
    ctx: LiftingContext,
    node: Resize,
    tensors: Algebra,
    x: Operand,
    axis: int,
    where: tuple[Floats, float],
) -> Operand:
    given, (at, scale), size = node.attributes, where, x.shape[axis]
    if given.mode == "nearest":
        index = np.clip(_NEAREST[given.nearest_mode](at), 0, size - 1).astype(np.int64)
        return rearranged(x, lambda array: np.take(array, index, axis))
    if size == 1:  # weights of a single element add up to 1
        return rearranged(x, lambda array: np.repeat(array, len(at), axis))
    if not ctx.is_of_numbers(node.input[0]):
        ctx.fail(
            node,
            f"mode: {given.mode} of integers, between which there is no number",
            "Cast its input to float32, or take the mode nearest",
        )
    return tensors.along(x, axis, _matrix(given, at, scale, size))


def _scales(
    ctx: LiftingContext, node: Resize, shape: tuple[int, ...]
) -> dict[int, tuple[float, int]]:
    """For each axis that changes, its scale and the size of the output."""
    given, rank = node.attributes, len(shape)
    axes = ctx.axes(node, range(rank) if given.axes is None else given.axes, rank)
    policy = given.keep_aspect_ratio_policy
    sizes, scales = (
        None if ctx.optional(node, position) is None else ctx.constant(node, position).ravel()
        for position in (_SIZES, _SCALES)
    )
    if sizes is not None and sizes.size:
        old = np.array([shape[axis] for axis in axes])
        _check(ctx, node, sizes, axes)
        factors = sizes.astype(np.float32) / old.astype(np.float32)
        if policy != "stretch":
            factors[:] = min(factors) if policy == "not_larger" else max(factors)
            sizes = np.floor(factors * old.astype(np.float32) + _HALF)
        found = [int(size) for size in sizes]
    elif scales is not None and scales.size:
        _check(ctx, node, scales, axes)
        factors = scales.astype(np.float32)
        _refuse_fractions(ctx, node, factors * np.array([shape[axis] for axis in axes]))
        found = [int(np.floor(factor * np.float32(shape[axis])))
                 for axis, factor in zip(axes, factors, strict=True)]  # fmt: skip
    else:
        ctx.fail(node, "it has neither scales nor sizes")
    return dict(zip(axes, zip(factors.tolist(), found, strict=True), strict=True))


def _check(ctx: LiftingContext, node: Resize, numbers: Floats, axes: tuple[int, ...]) -> None:
    if len(numbers) != len(axes) or np.any(numbers <= 0):
        ctx.fail(node, f"its scales or sizes are {numbers.tolist()}, for the axes {list(axes)}")


def _refuse_fractions(ctx: LiftingContext, node: Resize, sizes: Floats) -> None:
    """Refuse forms that runtimes disagree about: corners of a fraction of an element."""
    aligned = node.attributes.coordinate_transformation_mode == "align_corners"
    if aligned and not np.allclose(sizes, np.round(sizes), rtol=0.0, atol=1e-5):
        ctx.fail(
            node,
            f"coordinate_transformation_mode: align_corners of the sizes {sizes.tolist()}, "
            "expected whole numbers",
        )


# --- coordinates ---------------------------------------------------------------------------------


def _coordinates(given: ResizeAttributes, scale: float, size: int, count: int) -> Floats:
    """For each element of the output, where in the input it is."""
    mode, factor = given.coordinate_transformation_mode, np.float32(scale)
    out = np.arange(count, dtype=np.float32)
    if mode == "asymmetric":
        found = out / factor
    elif mode == "tf_half_pixel_for_nn":
        found = (out + _HALF) / factor
    elif mode == "align_corners":
        steps = np.float32(max(count - 1, 1))
        found = np.zeros_like(out) if count == 1 else out * np.float32(size - 1) / steps
    elif mode == "pytorch_half_pixel" and count == 1:
        found = np.zeros_like(out)
    else:
        found = (out + _HALF) / factor - _HALF
        if mode == "half_pixel_symmetric":
            adjustment = np.float32(count) / (factor * np.float32(size))
            found += np.float32(size) / np.float32(2.0) * (np.float32(1.0) - adjustment)
    return np.asarray(found, np.float64)


_NEAREST: dict[str, Callable[[Floats], Floats]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round_prefer_floor": lambda at: np.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: np.floor(at + 0.5),
}


# --- weights -------------------------------------------------------------------------------------


def _matrix(given: ResizeAttributes, at: Floats, scale: float, size: int) -> Floats:
    """The weight of each input element (columns) for each output element (rows).

    A narrower kernel would miss elements where the output is smaller: `antialias` widens it.
    """
    widening = min(scale, 1.0) if given.antialias else 1.0
    reach = int(np.ceil((1 if given.mode == "linear" else 2) / widening))
    kernel = triangle if given.mode == "linear" else cubic
    matrix, row = np.zeros((len(at), size)), np.arange(len(at))[:, None]
    taps = np.floor(at).astype(np.int64)[:, None] + np.arange(-reach, reach + 2)
    weights = kernel((taps - at[:, None]) * widening, given.cubic_coeff_a)
    if given.exclude_outside:
        weights = np.where((taps >= 0) & (taps < size), weights, 0.0)
    if given.exclude_outside or given.antialias:
        weights = weights / weights.sum(axis=1, keepdims=True)
    np.add.at(matrix, (row, np.clip(taps, 0, size - 1)), weights)
    return matrix


def triangle(distance: Floats, _: float) -> Floats:
    """The weights of elements at distances from a place, by linear interpolation."""
    return np.maximum(1.0 - np.abs(distance), 0.0)


def cubic(distance: Floats, a: float) -> Floats:
    """The weights of elements at distances from a place, by cubic convolution (Keys, 1981)."""
    x = np.abs(distance)
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))
