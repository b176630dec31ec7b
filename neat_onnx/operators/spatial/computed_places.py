"""GridSample at computed places, and AffineGrid, which computes some.

An element k has the share max(0, 1 − |p − k|) of a value at the place p of its axis, or the nearest
one all of it; along several axes shares are multiplied. A value is the sum of elements by shares.
"""

import math
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, lifts
from neat_onnx.lifting.followed_axes import FEATURE, AxisFollower, FollowedAxes, follows
from neat_onnx.model import Attributes, Node
from neat_onnx.network.expression import VARIABLE, Expression, call, clip, floor, rounded
from neat_onnx.network.genes import Floats
from neat_onnx.operators.algebra import Algebra, rearranged, reshaped, shared
from neat_onnx.operators.formulas.formula import formula_of
from neat_onnx.operators.products.tensors import matrix_product


class AffineGridAttributes(Attributes):
    """Attributes of AffineGrid: whether −1 and 1 are the middles of elements, or their ends."""

    align_corners: Literal[0, 1] = 0


class AffineGrid(Node):
    """Matrices [N, 2, 3] or [N, 3, 4], and the sizes [N, C, …] of the images to sample."""

    inputs = (2, 2)
    since = 20
    shape_inputs = frozenset({1})
    unaligned = 0
    attributes: AffineGridAttributes = AffineGridAttributes.defaults()


@lifts(AffineGrid)
def lift_affine_grid(ctx: LiftingContext, node: AffineGrid) -> None:
    """Lift AffineGrid: the matrix of each sample, times constant places."""
    tensors, sizes = Algebra(ctx, node), ctx.integers(node, 1)[2:]
    theta = tensors.input(0)
    axes = len(sizes)
    if theta.shape[1:] != (axes, axes + 1):
        ctx.fail(node, f"its matrices have the shape {list(theta.shape)}, its sizes are {sizes}")
    if node.attributes.align_corners and 1 in sizes:
        ctx.fail(node, "align_corners: 1 of an axis of one element: runtimes differ")
    ctx.refuse_along(node, (1, 2), 0)
    found = tensors.along(theta, 2, _places(sizes, bool(node.attributes.align_corners)))
    turned = rearranged(found, lambda array: np.swapaxes(array, 1, 2))
    ctx.bind(node, reshaped(turned, (theta.shape[0], *sizes, axes)))


@follows(AffineGrid)
def followed_grid(axes: AxisFollower, node: AffineGrid) -> list[FollowedAxes]:
    """The batch of the matrices, and the places."""
    rank = axes.rank(node.output[0])
    return [(*axes.of(node.input[0])[:1], *(FEATURE,) * (rank - 1))]


def _places(sizes: list[int], corners: bool) -> Floats:
    """The places of all elements (elements, axes + 1), the last axis first, and 1 in the end."""
    lines = [
        np.linspace(-1, 1, size) if corners else (2 * np.arange(size) + 1) / size - 1
        for size in sizes
    ]
    grids = np.meshgrid(*lines, indexing="ij")[::-1]
    return np.stack([*grids, np.ones(sizes)], axis=-1).reshape(-1, len(sizes) + 1)


def sample_at_computed(
    ctx: LiftingContext, node: Node, mode: str, padding: str, *, corners: bool
) -> None:
    """Bind the values of an image at computed places.

    Args:
        ctx: the import.
        node: reads the image and the places.
        mode: linear or nearest.
        padding: zeros, border or reflection, of places outside of the image.
        corners: −1 and 1 are the middles of the first and last elements, not their ends.

    Raises:
        ModelError: the mode is another, or shapes do not fit.
    """
    tensors = Algebra(ctx, node)
    x, grid = tensors.input(0), tensors.input(1)
    sizes, count = x.shape[2:], x.shape[0]
    if len(grid.shape) != len(x.shape) or grid.shape[-1] != len(sizes) or grid.shape[0] != count:
        ctx.fail(node, f"its input has the shape {list(x.shape)}, its grid {list(grid.shape)}")
    if mode not in ("linear", "bilinear", "nearest"):
        hint = "Export the model with the mode linear or nearest"
        ctx.fail(node, f"mode: {mode} at places that are computed", hint)
    for position in (0, 1):
        ctx.refuse_along(node, range(2 - position, len(x.shape)), position)
    ctx.refuse_first_sample(node, (0, 1), 0)
    spread, whole, area = grid.shape[1:-1], math.prod(grid.shape[1:-1]), math.prod(sizes)
    ctx.check_size(node, count * whole * area)
    weights: Operand = np.ones(())
    for axis, size in enumerate(sizes):
        line = rearranged(grid, lambda array, at=-1 - axis: array[..., at])  # type: ignore[misc]
        formula = _at(size, mode, padding, corners=corners)
        place = shared(formula_of(ctx, reshaped(line, (count, whole, 1)), formula))
        shares = _shares(tensors, place, size, mode)
        along = [size if each == axis else 1 for each in range(len(sizes))]
        shares = reshaped(shares, (count, whole, *along))
        weights = shares if axis == 0 else tensors("mul", weights, shares)
    matrix = rearranged(
        reshaped(weights, (count, whole, area)), lambda array: np.swapaxes(array, 1, 2)
    )
    flat = reshaped(x, (*x.shape[:2], area))
    found = matrix_product(ctx, node, tensors, flat, matrix)
    ctx.bind(node, reshaped(found, (*x.shape[:2], *spread)))


def _at(size: int, mode: str, padding: str, *, corners: bool) -> Expression:
    """The place among the elements of an axis, of one from −1 to 1."""
    x = (VARIABLE + 1.0) * ((size - 1) / 2) if corners else ((VARIABLE + 1.0) * size - 1.0) / 2.0
    x = rounded(x) if mode == "nearest" else x
    if padding == "reflection":
        low, width = (0.0, size - 1.0) if corners else (-0.5, float(size))
        x = _folded(x - low, width) + low if width else x * 0.0
    return x if padding == "zeros" else clip(x, 0.0, size - 1.0)


def _folded(x: Expression, width: float) -> Expression:
    """A number folded back at 0 and at a width until it is between them."""
    turned = x - floor(x / (2.0 * width)) * (2.0 * width)
    return width - call("abs", turned - width)


def _shares(tensors: Algebra, place: Operand, size: int, mode: str) -> Operand:
    """The shares (…, size) that the elements of an axis have of places (…, 1)."""
    distance = tensors("sub", place, np.arange(size, dtype=np.float64))
    if mode == "nearest":
        return tensors("number", tensors("equal", distance, 0.0))
    return tensors("relu", tensors("sub", 1.0, tensors("abs", distance)))
