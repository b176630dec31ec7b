"""Resize: products along the last axes by matrices that interpolate between elements."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from neat_onnx.model import DataType, Node
from neat_onnx.operators.spatial.resize import cubic, triangle
from neat_onnx.short_form.groups.axis_products import axis_products
from neat_onnx.short_form.groups.search import Floats, Found, Search, Sizes

_TOLERANCE = 1e-5  # weights are rounded to float32
_OF_PICTURES = 4  # axes
_CUBIC = -0.75  # ONNX's own cubic_coeff_a
_WITH_AXES = 18  # the opset from which on sizes may be those of some axes
_COORDINATES: dict[str, Callable[[Floats, int, int], Floats]] = {
    "half_pixel": lambda at, size, given: (at + 0.5) * given / size - 0.5,
    "align_corners": lambda at, size, given: at * (given - 1) / max(size - 1, 1),
    "asymmetric": lambda at, size, given: at * given / size,
}
"""By ONNX's names, the coordinates of elements in an axis of `given` elements that is made `size`
long.
"""


def find_resize(search: Search, last: Node) -> Found | None:
    """The interpolation that products by constants are."""
    end, products = last.output[0], axis_products(search, last)
    whole, sizes = products.sizes, search.draft.axes(end) or ()
    if not products.matrices or len(whole) != len(sizes):
        return None
    if search.kind(end) is not DataType.FLOAT:
        return None  # onnxruntime has no other
    axes = range(-len(whole), 0)
    other = any(whole[axis] != sizes[axis] for axis in axes if axis not in products.matrices)
    if other or any(
        matrix.shape != (sizes[axis], whole[axis]) for axis, matrix in products.matrices.items()
    ):
        return None
    scales = [1.0, *(size / given for size, given in zip(sizes, whole, strict=True))]
    for mode, coordinates in product(("linear", "cubic"), _COORDINATES):
        matrices = products.matrices.values()
        if _is_run(mode, scales) and all(
            _interpolates(matrix, mode, coordinates) for matrix in matrices
        ):
            named = {"mode": mode, "coordinate_transformation_mode": coordinates}
            given = _given(search, whole, sizes)
            if given is None:
                return None
            reads, more = given
            node = search.draft.node("Resize", [products.source, *reads], [end], **named, **more)
            return end, [*products.nodes, node]
    return None


def _given(search: Search, whole: Sizes, sizes: Sizes) -> tuple[list[str], dict[str, Any]] | None:
    """The inputs behind the first that say how large a tensor becomes, and attributes with them.

    They are scales, unless a size is not its scale, a number of float32, times the size before.
    Sizes are given for the axes that change: the batch has none.
    """
    scales = [size / given for size, given in zip(sizes, whole, strict=True)]
    held = np.array(scales, np.float32).astype(np.float64)
    if np.array_equal(np.floor(held * whole), sizes):
        return ["", search.draft.constant("scales", [1.0, *scales], DataType.FLOAT)], {}
    if search.draft.model.opset < _WITH_AXES:
        return None
    axes = [axis for axis, scale in enumerate(scales, 1) if scale != 1.0]
    chosen = search.draft.constant("sizes", [sizes[axis - 1] for axis in axes])
    return ["", "", chosen], {"axes": axes}


def _is_run(mode: str, scales: list[float]) -> bool:
    """Whether onnxruntime has such a Resize: of few axes, or of pictures."""
    few, most = (3, 5) if mode == "linear" else (2, 4)
    if len(scales) <= few:
        return True
    channels_last = len(scales) == _OF_PICTURES and scales[-1] == 1.0
    grows = mode == "linear" or min(scales) == 1.0
    is_picture = len(scales) in (_OF_PICTURES, most) and scales[1] == 1.0
    return is_picture or (channels_last and grows)


def _interpolates(matrix: Floats, mode: str, coordinates: str) -> bool:
    """Whether the rows of a matrix are the weights of such an interpolation."""
    size, given = matrix.shape
    at = _COORDINATES[coordinates](np.arange(size, dtype=np.float64), size, given)
    first, last = (0, 1) if mode == "linear" else (-1, 2)
    taps = np.floor(at)[:, None] + np.arange(first, last + 1)
    kernel = triangle if mode == "linear" else cubic
    weights = kernel(taps - at[:, None], _CUBIC)
    columns = np.clip(taps, 0, given - 1).astype(np.int64)
    wanted = np.zeros_like(matrix)
    np.add.at(wanted, (np.arange(size)[:, None], columns), weights)
    return bool(np.allclose(wanted, matrix, rtol=0.0, atol=_TOLERANCE))
