"""Spaces of another size: each place of the result is a weighted sum of places near a point.

Along one axis the weights are a kernel of the distance, a matrix [result, source]; axes are taken
one after the other.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from neat_onnx.lifting.neurons import Tensor, matmul, moved
from neat_onnx.lifting.operator import Array, Ints, axis_within, operator, refuse
from neat_onnx.model.budget import require_elements
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z
from neat_onnx.network.expression import Expression
from neat_onnx.operators.ordering import along_last

Way = Literal[
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn",
    "asymmetric", "align_corners",
]  # fmt: skip
Rounding = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
_ROUNDING: dict[Rounding, Callable[[Array], Array]] = {
    "round_prefer_floor": lambda at: np.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: np.floor(at + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}
_tent = e.relu(1.0 - abs(z))


def cubic_kernel(a: float) -> Expression:
    """Keys' kernel of cubic convolution, of the distance z (Keys, 1981)."""
    d = abs(z)
    near = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
    far = ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
    return e.where(e.less_or_equal(d, 1.0), near, e.where(e.less(d, 2.0), far, 0.0))


def _points(mode: str, size: int, result: int, scale: float) -> Array:
    """Where the places of a result stand in the source."""
    at = np.arange(result, dtype=float)
    match mode:
        case "asymmetric":
            return at / scale
        case "align_corners":
            return at * (size - 1) / max(1, result - 1)
        case "pytorch_half_pixel" if result == 1:
            return at * 0.0
        case "tf_half_pixel_for_nn":
            return (at + 0.5) / scale
        case "half_pixel_symmetric":
            return size / 2 * (1 - result / (scale * size)) + (at + 0.5) / scale - 0.5
        case _:
            return (at + 0.5) / scale - 0.5


def _weights(
    at: Array, size: int, kernel: Expression, reach: int, scale: float, exclude_outside: bool
) -> Array:
    """The matrix [result, source] of a kernel, stretched where places are left out."""
    margin = int(np.ceil(reach / scale)) + 1
    require_elements(len(at), size + 2 * margin)
    near = np.arange(-margin, size + margin)
    weights = kernel.evaluate((near[None, :] - at[:, None]) * scale)
    if exclude_outside:
        weights = np.where((near >= 0) & (near < size), weights, 0.0)
    weights = weights / weights.sum(axis=1, keepdims=True)
    matrix = np.zeros((len(at), size))
    np.add.at(matrix.T, np.clip(near, 0, size - 1), weights.T)
    return matrix


def _sizes(
    given: Ints, axes: Ints, scales: Array | None, sizes: Array | None, policy: str, way: str
) -> list[tuple[int, float]]:
    """The size of the result along each axis, and the factor by which it is larger."""
    if scales is not None and scales.size:
        rounded_scales = np.asarray(scales, np.float32)  # as runtimes round
        whole = [np.float32(given[k]) * s for k, s in zip(axes, rounded_scales, strict=True)]
        if way == "align_corners" and any(size % 1.0 for size in whole):
            raise refuse(
                "scales",
                f"to sizes {[*map(float, whole)]}",
                "whole sizes: runtimes align others apart",
            )
        return list(zip(map(int, whole), map(float, rounded_scales), strict=True))
    if sizes is None:
        raise refuse("scales", "left out", "scales or sizes")
    factors = [int(s) / given[k] for k, s in zip(axes, sizes, strict=True)]
    if policy == "stretch":
        return list(zip(map(int, sizes), factors, strict=True))
    factor = min(factors) if policy == "not_larger" else max(factors)
    return [(int(np.floor(given[k] * factor + 0.5)), factor) for k in axes]


@operator("Resize", since=10)
def resize(
    x: Tensor, roi: Array | None = None, scales: Array | None = None, sizes: Array | None = None, *,
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinate_transformation_mode: Way = "half_pixel",
    nearest_mode: Rounding = "round_prefer_floor", cubic_coeff_a: float = -0.75,
    exclude_outside: bool = False, extrapolation_value: float = 0.0, antialias: bool = False,
    axes: Ints | None = None,
    keep_aspect_ratio_policy: Literal["stretch", "not_larger", "not_smaller"] = "stretch",
    opset: int = 18,
) -> Tensor:  # fmt: skip
    """Before opset 11 the second input is the scales, and places are rounded down."""
    if opset < 11:
        scales, roi = roi, None
    rounding = nearest_mode
    if opset < 11:
        rounding = "ceil" if np.any(np.asarray(scales) < 1.0) else "floor"
    way = coordinate_transformation_mode
    given = range(x.ndim) if axes is None else axes
    which = tuple(axis_within(axis, x.ndim, "axes") for axis in given)
    targets = _sizes(x.shape, which, scales, sizes, keep_aspect_ratio_policy, way)
    kernel, reach = (_tent, 1) if mode == "linear" else (cubic_kernel(cubic_coeff_a), 2)
    for axis, (result, scale) in zip(which, targets, strict=True):
        size = x.shape[axis]
        if result == size and scale == 1.0:
            continue
        require_elements(x.size // max(1, size), result)
        at = _points(way if opset >= 11 else "asymmetric", size, result, scale)
        if mode == "nearest":
            places = np.clip(_ROUNDING[rounding](at), 0, size - 1).astype(int)
            x = moved(x, partial(np.take, indices=places, axis=axis))
        else:
            shrunk = min(scale, 1.0) if antialias else 1.0
            matrix = _weights(at, size, kernel, reach, shrunk, exclude_outside)
            x = along_last(x, axis, partial(matmul, b=matrix.T))
    return x


@operator("Upsample", since=7)
def upsample(x: Tensor, scales: Array, *, mode: Literal["nearest", "linear"] = "nearest") -> Tensor:
    return resize(
        x, scales=scales, mode=mode, coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )  # fmt: skip
