"""Columns in another order that is one of axes: a Transpose in the place of a list of indices."""

import numpy as np

from neat_onnx.network.genes import Ints
from neat_onnx.network.window import Sizes

_MOST_AXES = 5
_FEWEST = 32  # columns from which on it is worth while


def axes_of_order(order: Ints) -> tuple[Sizes, Sizes] | None:
    """The shape of columns 0, 1, …, and the permutation of its axes that gives them in `order`.

    None if there is no such, or there are too few columns.
    """
    if len(order) < _FEWEST or order[0] != 0:
        return None
    found: list[tuple[int, int]] = []  # (size, step) from the innermost axis out
    rest = order
    while len(rest) > 1 and len(found) < _MOST_AXES:
        size, step = _run(rest)
        rows = rest[: len(rest) // size * size].reshape(-1, size)
        if len(rest) % size or step < 1 or np.any(rows != rows[:, :1] + step * np.arange(size)):
            return None
        found.append((size, step))
        rest = rest[::size]
    outwards = found[::-1]
    by_step = sorted(range(len(outwards)), key=lambda axis: -outwards[axis][1])
    shape = tuple(outwards[axis][0] for axis in by_step)
    steps = [outwards[axis][1] for axis in by_step]
    whole = [1]
    for size in shape[:0:-1]:
        whole.append(whole[-1] * size)
    if len(rest) > 1 or steps != whole[::-1]:
        return None
    return shape, tuple(by_step.index(axis) for axis in range(len(outwards)))


def _run(order: Ints) -> tuple[int, int]:
    """The length and the step of the arithmetic progression at the beginning."""
    step = int(order[1] - order[0])
    breaks = np.flatnonzero(np.diff(order) != step)
    return (int(breaks[0]) + 1 if len(breaks) else len(order)), step
