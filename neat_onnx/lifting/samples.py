"""Graphs for a fixed number of samples: shapes that state it are read as shapes of one sample.

A graph is lifted for a batch of one. One that was exported with four samples states the four
wherever it reshapes or repeats. The elements of a tensor stand in C order: in another shape the
samples are where as many elements of a sample are before them as there were.
"""

import math
from collections.abc import Collection, Sequence

import numpy as np

from neat_onnx.lifting.axes import Axes
from neat_onnx.lifting.followed_axes import (
    FEATURE,
    FIRST,
    FollowedAxes,
    FollowedAxis,
    elements_before,
)
from neat_onnx.lifting.values import Array
from neat_onnx.model import Graph
from neat_onnx.model.value import Extent


def common_size(sizes: Collection[Extent]) -> int:
    """The one size that there is, where it is fixed; else 1."""
    first, *others = sizes or {1}
    return first if isinstance(first, int) and not others else 1


def whole_shape(followed: FollowedAxes, shape: Sequence[int], samples: int) -> list[int]:
    """The shape of a tensor with all samples, from that with one."""
    return [
        size if axis == FEATURE else size * samples
        for size, axis in zip(shape, followed, strict=True)
    ]


def ends_of_batch(followed: FollowedAxes) -> set[int]:
    """The axes that are or may be the batch, counted from the end."""
    return {len(followed) - at for at, axis in enumerate(followed) if axis != FEATURE}


def first_sample(array: Array, axis: int, samples: int) -> Array:
    """A constant for one sample, where it has the same values for each of them along an axis."""
    first = array.take([0], axis=axis) if array.shape[axis] == samples else array
    return first if np.all(array == first) else array


def reshaped_samples(
    followed: FollowedAxes, shape: tuple[int, ...], wanted: Sequence[int], samples: int
) -> tuple[list[int], FollowedAxes] | None:
    """A shape that a tensor takes, for one sample, and where the batch is in it then.

    Args:
        followed: where the batch is in the tensor.
        shape: the shape of the tensor, for one sample.
        wanted: the shape that all samples take; -1 for a size that is left open.
        samples: how many there are.

    Returns:
        None if no axis of the new shape holds whole samples: elements of different ones meet.
    """
    before, count = elements_before(followed, shape), math.prod(shape) * samples
    rest = math.prod(size for size in wanted if size != -1)
    sizes = [count // rest if size == -1 and rest else size for size in wanted]
    if before is None or not count or math.prod(sizes) != count:
        return None
    outer = 1
    for axis, size in enumerate(sizes):
        inner, left = divmod(before, outer)
        if not left and inner and size % (samples * inner) == 0:
            sizes[axis] //= samples
            kind = FIRST if sizes[axis] == 1 else FollowedAxis.around(inner)
            return sizes, tuple(kind if k == axis else FEATURE for k in range(len(sizes)))
        outer *= size
    return None


def batch_sizes(graph: Graph, axes: dict[str, Axes]) -> set[Extent]:
    """The sizes of time and the batch that inputs state."""
    return {entry.shape[axis] for entry in graph.inputs if entry.shape for axis in axes[entry.name]}
