"""Columns in another order that is one of axes: a Transpose in the place of a list of indices.

Columns that stand several times along axes of their own are a Tile. Columns of some rows, at the
same places in each, are two short lists.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from neat_onnx.network.genes import Ints
from neat_onnx.network.window import Sizes

_MAX_AXES = 7
_MIN_COLUMNS = 32  # from which on it is worth while
_MIN_COLUMNS_REPEATED = 64  # the same of a Tile between two Reshapes
_MIN_COLUMNS_OF_GRID = 128  # the same of two Gathers between two Reshapes
_MIN_COLUMNS_PER_INDEX = 4  # of the lists of a grid


def axes_of_order(order: Ints, fewest: int = _MIN_COLUMNS) -> tuple[Sizes, Sizes] | None:
    """The shape of columns 0, 1, …, and the permutation of its axes that gives them in `order`.

    None if there is no such, or there are too few columns.
    """
    if len(order) < fewest or order[0] != 0:
        return None
    found = _steps_of(order)
    if found is None or any(step < 1 for _, step in found):
        return None
    outwards = found[::-1]
    by_step = sorted(range(len(outwards)), key=lambda axis: -outwards[axis][1])
    shape = tuple(outwards[axis][0] for axis in by_step)
    steps = [outwards[axis][1] for axis in by_step]
    if steps != _whole(shape):
        return None
    return shape, tuple(by_step.index(axis) for axis in range(len(outwards)))


def repeats_of_order(order: Ints) -> tuple[Sizes, Sizes] | None:
    """(shape, repeats) of the columns n, n + 1, …, all in `order`, as a Tile of that shape.

    None if they are in another order, or there are too few.
    """
    found = _steps_of(order) if len(order) >= _MIN_COLUMNS_REPEATED else None
    if found is None or all(step for _, step in found):
        return None
    outwards = found[::-1]
    moving = [(size, step) for size, step in outwards if step]
    if [step for _, step in moving] != _whole([size for size, _ in moving]):
        return None
    shape = tuple(size if step else 1 for size, step in outwards)
    return shape, tuple(1 if step else size for size, step in outwards)


class Grid(NamedTuple):
    """Columns of some rows, at the same places in each.

    Attributes:
        shape: rows of these columns, (rows, width).
        rows: which rows, in their order.
        places: which places in each row, in their order.
    """

    shape: tuple[int, int]
    rows: Ints
    places: Ints


def grid_of_order(order: Ints, count: int) -> Grid | None:
    """The grid that gives the columns in `order`, None if it is none or hardly shorter.

    So are images that are padded with their own pixels, or enlarged.

    Args:
        order: places among the columns, repeats allowed.
        count: the number of columns.
    """
    if len(order) < _MIN_COLUMNS_OF_GRID:
        return None
    for length in _lengths(len(order)):
        table = order.reshape(-1, length)
        first = table[:, 0] - table[0, 0]
        if np.any(table[1] != table[0] + first[1]) or np.any(table != table[0] + first[:, None]):
            continue
        width = math.gcd(count, *np.unique(np.abs(first)).tolist())
        row, place = np.divmod(table[0], width)
        if np.all(row == row[0]):
            return Grid((count // width, width), table[:, 0] // width, place)
    return None


def _lengths(count: int) -> Iterator[int]:
    """Divisors of a number that are, with their partner, much less than it; the least sum first."""
    most = count // _MIN_COLUMNS_PER_INDEX
    found = [length for length in range(2, most) if count % length == 0]
    yield from sorted(
        (length for length in found if length + count // length <= most),
        key=lambda length: length + count // length,
    )


def _whole(shape: Sequence[int]) -> list[int]:
    """The steps along the axes of an array of this shape."""
    steps = [1]
    for size in shape[:0:-1]:
        steps.append(steps[-1] * size)
    return steps[::-1][: len(shape)]


def _steps_of(order: Ints) -> list[tuple[int, int]] | None:
    """(size, step) of the axes along which an order advances, from the innermost out."""
    found: list[tuple[int, int]] = []
    rest = order
    while len(rest) > 1 and len(found) < _MAX_AXES:
        size, step = _run(rest)
        rows = rest[: len(rest) // size * size].reshape(-1, size)
        if len(rest) % size or np.any(rows != rows[:, :1] + step * np.arange(size)):
            return None
        found.append((size, step))
        rest = rest[::size]
    return found if len(rest) == 1 else None


def _run(order: Ints) -> tuple[int, int]:
    """The length and the step of the arithmetic progression at the beginning."""
    step = int(order[1] - order[0])
    breaks = np.flatnonzero(np.diff(order) != step)
    return (int(breaks[0]) + 1 if len(breaks) else len(order)), step
