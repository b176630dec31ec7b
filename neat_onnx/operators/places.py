"""Elements taken from places and put to places: Gather, Scatter and their kin.

Places are numbers. Those of Gather and GatherElements may depend on inputs: then each is a row of
hits, and what is taken a sum of products with it.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from neat_onnx.lifting.neurons import (
    Neurons,
    Tensor,
    add,
    concat,
    matmul,
    maximum,
    minimum,
    moved,
    multiply,
    take,
    where,
)
from neat_onnx.lifting.operator import Array, operator, refuse
from neat_onnx.lifting.sums import at_largest
from neat_onnx.model.budget import require_elements
from neat_onnx.operators.constants import numpy_type
from neat_onnx.operators.ordering import hits_of

Reduction = Literal["none", "add", "mul", "max", "min"]
_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "none": lambda _, new: new, "add": add, "mul": multiply, "max": maximum, "min": minimum,
}  # fmt: skip


@operator("Gather")
def gather(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    size = data.shape[axis]
    if isinstance(indices, Neurons):
        rows = moved(data, lambda array: np.moveaxis(array, axis, 0))
        table = rows.reshape(size, -1)
        found = matmul(hits_of(indices, size).reshape(-1, size), table)
        found = found.reshape(*indices.shape, *rows.shape[1:])
        count, axis = indices.ndim, axis % data.ndim
        kept = [*range(count, count + axis), *range(count), *range(count + axis, found.ndim)]
        return found.transpose(kept)
    return take(data, _within(np.asarray(indices), size), axis)


@operator("GatherElements", since=11)
def gather_elements(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    if not isinstance(indices, Neurons):
        at = _within(indices, data.shape[axis])
        return moved(data, lambda array: array[_element_places(at, axis)])
    if any(
        one != other
        for k, (one, other) in enumerate(zip(data.shape, indices.shape, strict=True))
        if k != axis % data.ndim
    ):
        raise refuse("indices", list(indices.shape), f"the sizes {list(data.shape)} beside {axis}")
    if isinstance(data, Neurons) and (found := at_largest(indices, data, axis)) is not None:
        return found
    places, rows = (moved(x, lambda a: np.moveaxis(a, axis, -1)) for x in (indices, data))
    found = matmul(hits_of(places, data.shape[axis]), rows[..., None])[..., 0]
    return moved(found, lambda array: np.moveaxis(array, -1, axis))


def _within(places: Array, size: int) -> Array:
    """Places from 0 on; refuse those beyond the elements."""
    if places.size and (places.min() < -size or places.max() >= size):
        raise refuse("indices", f"{places.min()} to {places.max()}", f"{-size} to {size - 1}")
    return np.where(places < 0, places + size, places)


def _element_places(places: Array, axis: int) -> tuple[Array, ...]:
    grid: list[Array] = list(np.indices(places.shape, sparse=True))
    grid[axis] = places
    return tuple(grid)


@operator("GatherND", since=11)
def gather_nd(data: Tensor, indices: Array, *, batch_dims: int = 0) -> Tensor:
    at = np.moveaxis(indices, -1, 0)
    sizes = data.shape[batch_dims : batch_dims + len(at)]
    places = [_within(each, size) for each, size in zip(at, sizes, strict=True)]
    require_elements(*indices.shape[:-1], *data.shape[batch_dims + len(at) :])
    batch = np.indices(indices.shape[:-1], sparse=True)[:batch_dims]
    return data[(*batch, *places)]


@operator("Scatter", since=9)
@operator("ScatterElements", since=11)
def scatter_elements(
    data: Tensor, indices: Array, updates: Tensor, *, axis: int = 0, reduction: Reduction = "none"
) -> Tensor:
    at = _within(np.asarray(indices), data.shape[axis])
    return _scattered(data, _element_places(at, axis), updates, reduction)


@operator("ScatterND", since=11)
def scatter_nd(
    data: Tensor, indices: Array, updates: Tensor, *, reduction: Reduction = "none"
) -> Tensor:
    at = np.moveaxis(np.asarray(indices), -1, 0)
    places = [_within(each, size) for each, size in zip(at, data.shape, strict=False)]
    return _scattered(data, tuple(places), updates, reduction)


def _scattered(
    data: Tensor, places: tuple[Array, ...], updates: Tensor, reduction: Reduction
) -> Tensor:
    """Put or combine updates into elements, the later of those at one place after the earlier."""
    order = np.arange(data.size).reshape(data.shape)
    target = np.broadcast_to(order[places], updates.shape).ravel()
    flat, new = data.ravel(), updates.ravel()
    turn = np.zeros(len(target), int)  # how many updates of the same place came before
    if reduction != "none":  # else the last one of a place stays
        order = np.argsort(target, kind="stable")
        _, first, which = np.unique(target[order], return_index=True, return_inverse=True)
        turn[order] = np.arange(len(target)) - first[which]
    for each in range(turn.max(initial=-1) + 1):
        at = np.flatnonzero(turn == each)
        combined = _COMBINE[reduction](flat[target[at]], new[at])
        source = np.arange(data.size)
        source[target[at]] = data.size + np.arange(len(at))
        flat = take(concat([flat, combined], 0), source)
    return flat.reshape(data.shape)


@operator("Compress", since=9)
def compress(input: Tensor, condition: Array, *, axis: int | None = None) -> Tensor:
    keep = np.flatnonzero(np.asarray(condition))
    return take(input.ravel(), keep) if axis is None else take(input, keep, axis)


@operator("Tile", since=6)
def tile(input: Tensor, repeats: Array) -> Tensor:
    require_elements(input.size, *repeats)
    return moved(input, lambda array: np.tile(array, tuple(map(int, repeats))))


@operator("ReverseSequence", since=10)
def reverse_sequence(
    input: Tensor, sequence_lens: Array, *, batch_axis: int = 1, time_axis: int = 0
) -> Tensor:
    """Turn the first steps of each sample around, as many as its length says."""
    steps = np.arange(input.shape[time_axis])[:, None]
    lengths = np.asarray(sequence_lens)
    turned = np.where(steps < lengths, lengths - 1 - steps, steps)  # [time, batch]

    def change(array: Array) -> Array:
        front = np.moveaxis(array, (time_axis, batch_axis), (0, 1))
        found = front[turned, np.arange(front.shape[1])]
        return np.moveaxis(found, (0, 1), (time_axis, batch_axis))

    return moved(input, change)


@operator("Trilu", since=14)
def triangle(input: Tensor, k: Array | None = None, *, upper: bool = True) -> Tensor:
    shift = 0 if k is None else int(k.item())
    ones = np.ones(input.shape[-2:], np.bool_)
    zero = np.zeros((), np.float64 if isinstance(input, Neurons) else input.dtype)
    return where(np.triu(ones, shift) if upper else np.tril(ones, shift), input, zero)


@operator("DepthToSpace")
def depth_to_space(input: Tensor, *, blocksize: int, mode: Literal["DCR", "CRD"] = "DCR") -> Tensor:
    """Blocks of channels as blocks of space; depth stands last in DCR, first in CRD."""
    n, c, h, w = input.shape
    b, depth = blocksize, c // blocksize**2
    if mode == "DCR":
        parts = input.reshape(n, b, b, depth, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        parts = input.reshape(n, depth, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return parts.reshape(n, depth, h * b, w * b)


@operator("SpaceToDepth")
def space_to_depth(input: Tensor, *, blocksize: int, mode: Literal["DCR", "CRD"] = "DCR") -> Tensor:
    """The inverse of DepthToSpace."""
    n, c, h, w = input.shape
    b = blocksize
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    parts = input.reshape(n, c, h // b, b, w // b, b).transpose(order)
    return parts.reshape(n, c * b * b, h // b, w // b)


@operator("EyeLike", since=9)
def eye_like(input: Tensor, *, dtype: int | None = None, k: int = 0) -> Array:
    kind = input.dtype if dtype is None else numpy_type(dtype)
    rows, columns = input.shape
    found: Array = np.eye(rows, columns, k, dtype=kind)
    return found
