"""Spaces of another size: each place of the result is a weighted sum of places near a point.

Along one axis the weights are a kernel of the distance, a matrix [result, source]; axes are taken
one after the other.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from neat_onnx.lifting.formulas import formula, rounded
from neat_onnx.lifting.neurons import Tensor, matmul, maximum, minimum, moved
from neat_onnx.lifting.operator import Array, Ints, operator, refuse
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
            raise refuse("scales", f"to sizes {whole}", "whole sizes: runtimes align others apart")
        return list(zip(map(int, whole), map(float, rounded_scales), strict=True))
    if sizes is None:
        raise refuse("scales", "left out", "scales or sizes")
    factors = [int(s) / given[k] for k, s in zip(axes, sizes, strict=True)]
    if policy == "stretch":
        return list(zip(map(int, sizes), factors, strict=True))
    factor = min(factors) if policy == "not_larger" else max(factors)
    return [(int(np.floor(given[k] * factor + 0.5)), factor) for k in axes]


def _product(rows: Tensor, matrix: Array) -> Tensor:
    return rows @ matrix


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
    which = tuple(range(x.ndim)) if axes is None else tuple(k % x.ndim for k in axes)
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
            x = along_last(x, axis, partial(_product, matrix=matrix.T))
    return x


@operator("Upsample", since=7)
def upsample(x: Tensor, scales: Array, *, mode: Literal["nearest", "linear"] = "nearest") -> Tensor:
    return resize(
        x, scales=scales, mode=mode, coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )  # fmt: skip


@operator("GridSample", since=16)
def grid_sample(
    x: Tensor, grid: Tensor, *, align_corners: bool = False,
    mode: Literal["linear", "nearest", "cubic", "bilinear", "bicubic"] = "linear",
    padding_mode: Literal["zeros", "border", "reflection"] = "zeros",
) -> Tensor:  # fmt: skip
    """The values at points of a grid, from -1 to 1 along each axis, the last axis first."""
    batch, channels, *space = x.shape
    count = int(np.prod(grid.shape[1:-1]))
    found = x.reshape(batch, 1, channels, -1, space[-1])  # [N, points, C, outer places, last axis]
    cubic = mode in ("cubic", "bicubic")
    kernel = cubic_kernel(-0.75) if cubic else _tent
    points = grid.reshape(batch, count, -1)
    for k, size in enumerate(reversed(space)):
        at = points[..., k]
        at = (at + 1.0) * ((size - 1) / 2) if align_corners else ((at + 1.0) * size - 1.0) * 0.5
        at = rounded(at) if mode == "nearest" else at
        margin = 2 if cubic else 0
        if padding_mode != "zeros" and not cubic:
            at = _inside(at, size, align_corners, padding_mode)
        places = np.arange(-margin, size + margin, dtype=float)
        weights = formula(kernel)(at[..., None] - places)  # [N, points, places]
        if margin:
            weights = weights @ _folded(places, size, align_corners, padding_mode)
        found = matmul(found, weights[:, :, None, :, None])[..., 0]
        outer = space[len(space) - 2 - k] if k + 1 < len(space) else 1
        found = found.reshape(batch, count, channels, -1, outer)
    return moved(
        found.reshape(batch, count, channels), lambda array: np.swapaxes(array, 1, 2)
    ).reshape(batch, channels, *grid.shape[1:-1])


def _inside(at: Tensor, size: int, align_corners: bool, padding: str) -> Tensor:
    """Points outside at the border, or reflected at it."""
    if padding == "border":
        return minimum(maximum(at, 0.0), size - 1.0)
    low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
    if span == 0.0:
        return at * 0.0
    turns = (z - low) / (2.0 * span)
    back = span - abs((turns - e.floor(turns)) * (2.0 * span) - span)
    return minimum(maximum(formula(back + low)(at), 0.0), size - 1.0)


def _folded(places: Array, size: int, align_corners: bool, padding: str) -> Array:
    """The matrix [place, source] of places that a cubic kernel reads beyond the space."""
    matrix = np.zeros((len(places), size))
    inside = (places >= 0) & (places < size)
    kept = _inside(places, size, align_corners, padding) if padding != "zeros" else places
    rows = np.flatnonzero(inside | (padding != "zeros"))
    matrix[rows, np.rint(kept[rows]).astype(int)] = 1.0
    return matrix
