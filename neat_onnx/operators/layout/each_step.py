"""A value of each sample, or one that all samples share, given to each step by Expand or Tile."""

from collections.abc import Sequence

from neat_onnx.lifting.context import Value
from neat_onnx.lifting.followed_axes import (
    FIRST,
    OF_FIRST,
    OF_SECOND,
    SECOND,
    UNKNOWN,
    AxisFollower,
    FollowedAxis,
)

_AXES = {OF_FIRST: FIRST, OF_SECOND: SECOND}


def at_each_step(
    followed: AxisFollower, name: str, sized: Sequence[int]
) -> dict[int, FollowedAxis]:
    """The axes along which a tensor without time is repeated once for each step, or each sample.

    Args:
        followed: the axes of tensors.
        name: the tensor.
        sized: for each axis of the result, the mark of the size that it is repeated by, or 0.

    Returns:
        Time and the batch, where the tensor has not had them, by their place.
    """
    axes, shape = followed.of(name), followed.operands[name].shape
    is_computed = isinstance(followed.operands[name], Value)
    if not (is_computed and followed.has_time) or FIRST in axes or UNKNOWN in axes:
        return {}
    ones = [1] * (len(sized) - len(shape)) + list(shape)
    found = {at: _AXES.get(int(size)) for at, size in enumerate(sized) if ones[at] == 1}
    return {at: axis for at, axis in found.items() if axis is not None and axis not in axes}
