"""Where elements stand: shapes, order, parts."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from neat_onnx.lifting import neurons as n
from neat_onnx.lifting.neurons import Tensor
from neat_onnx.lifting.operator import Array, Ints, axis_within, operator, refuse
from neat_onnx.model.budget import require_elements


def _ints(values: Array | Sequence[int]) -> list[int]:
    return [int(each) for each in np.ravel(values)]


@operator("Reshape")
def reshape(data: Tensor, shape: Array, *, allowzero: bool = False) -> Tensor:
    sizes = [data.shape[k] if d == 0 and not allowzero else d for k, d in enumerate(_ints(shape))]
    return data.reshape(tuple(sizes))


@operator("Flatten")
def flatten(input: Tensor, *, axis: int = 1) -> Tensor:
    first = axis if axis == input.ndim else axis_within(axis, input.ndim)
    return input.reshape(math.prod(input.shape[:first]), math.prod(input.shape[first:]))


@operator("Transpose")
def transpose(data: Tensor, *, perm: Ints | None = None) -> Tensor:
    if perm is not None and sorted(perm) != [*range(data.ndim)]:
        raise refuse("perm", list(perm), f"the axes 0 to {data.ndim - 1} in some order")
    return data.T if perm is None else data.transpose(perm)


@operator("Squeeze")
def squeeze(data: Tensor, axes: Array | None = None) -> Tensor:
    ones = [k for k, d in enumerate(data.shape) if d == 1]
    out = {axis_within(axis, data.ndim, "axes") for axis in (ones if axes is None else _ints(axes))}
    return data.reshape(tuple(d for k, d in enumerate(data.shape) if k not in out))


@operator("Unsqueeze")
def unsqueeze(data: Tensor, axes: Array) -> Tensor:
    rank = data.ndim + len(_ints(axes))
    new, sizes = {axis_within(axis, rank, "axes") for axis in _ints(axes)}, iter(data.shape)
    return data.reshape(tuple(1 if k in new else next(sizes) for k in range(rank)))


@operator("Concat")
def concat(*inputs: Tensor, axis: int = 1) -> Tensor:
    return n.concat(inputs, axis)


@operator("Slice")
def part(
    data: Tensor, starts: Array, ends: Array, axes: Array | None = None, steps: Array | None = None
) -> Tensor:
    count = len(_ints(starts))
    which = range(count) if axes is None else _ints(axes)
    strides = [1] * count if steps is None else _ints(steps)
    key = [slice(None)] * data.ndim
    for axis, start, end, step in zip(which, _ints(starts), _ints(ends), strides, strict=True):
        size = data.shape[axis]
        key[axis] = slice(start, None if step < 0 and end < -size else end, step)
    return data[tuple(key)]


@operator("Split")
def split(
    input: Tensor, split: Array | None = None, *, axis: int = 0, num_outputs: int | None = None,
    outputs: int = 1,
) -> tuple[Tensor, ...]:  # fmt: skip
    size, count = input.shape[axis], outputs
    if num_outputs not in (None, outputs):
        raise refuse("num_outputs", num_outputs, f"{outputs}, its outputs")
    if split is None:
        each = -(-size // count)
        sizes = [min(each, size - each * k) for k in range(count)]
    else:
        sizes = _ints(split)
        if sum(sizes) != size or min(sizes) < 0 or len(sizes) != outputs:
            raise refuse("split", sizes, f"{outputs} sizes, {size} together")
    ends = np.cumsum([0, *sizes]).tolist()
    pairs = pairwise(ends)
    return tuple(n.moved(input, partial(np.take, indices=range(s, e), axis=axis)) for s, e in pairs)


@operator("Expand", since=8)
def expand(input: Tensor, shape: Array) -> Tensor:
    whole = np.broadcast_shapes(input.shape, tuple(_ints(shape)))
    require_elements(*whole)
    return n.broadcast_to(input, whole)


@operator("Pad")
def pad(
    data: Tensor, pads: Array, constant_value: Array | None = None, axes: Array | None = None, *,
    mode: str = "constant", value: float = 0.0,
) -> Tensor:  # fmt: skip
    """Padding below 0 crops."""
    sizes = _ints(pads)
    given = range(data.ndim) if axes is None else _ints(axes)
    which = [axis_within(axis, data.ndim, "axes") for axis in given]
    widths = [(0, 0)] * data.ndim
    for k, axis in enumerate(which):
        widths[axis] = sizes[k], sizes[k + len(sizes) // 2]
    crop = (slice(max(0, -a), d - max(0, -b)) for (a, b), d in zip(widths, data.shape, strict=True))
    fill = value if constant_value is None else constant_value.item()
    kept = [(max(0, a), max(0, b)) for a, b in widths]
    return n.pad(data[tuple(crop)], kept, fill, mode)
