"""Windows along one axis of a tensor."""

from typing import NamedTuple


class AxisWindows(NamedTuple):
    """Windows along an axis.

    Attributes:
        size: of each.
        step: from one to the next.
        before: how many elements of the first one are before the axis.
        behind: how many of the last one are behind it.
    """

    size: int
    step: int
    before: int
    behind: int
