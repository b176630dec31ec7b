"""Triangles: the elements of a matrix up to one of its diagonals, or from it on."""

from typing import NamedTuple

import numpy as np

SINCE = 14
"""The first opset with Trilu."""
_AXES = 2


class Triangle(NamedTuple):
    """A triangle as Trilu keeps it.

    Attributes:
        upper: 1 for the elements from the diagonal on, 0 for those up to it.
        diagonal: 0 for the main one, 1 for that above it.
    """

    upper: int
    diagonal: int


def triangle_of(mask: np.ndarray) -> Triangle | None:
    """The triangle that a matrix of truth values has True in, and False elsewhere, if it is one."""
    if mask.ndim != _AXES:
        return None
    held, width = np.count_nonzero(mask, axis=1), mask.shape[1]
    cut = np.flatnonzero((held > 0) & (held < width))  # rows that the diagonal cuts
    if not len(cut):
        return None
    row, count = int(cut[0]), int(held[cut[0]])
    for found in (Triangle(0, count - 1 - row), Triangle(1, width - count - row)):
        below = np.tri(len(mask), width, found.diagonal - found.upper, dtype=np.bool_)
        if np.array_equal(mask, ~below if found.upper else below):
            return found
    return None
