"""Picking columns: another order, a part, or copies of the columns of a tensor.

A list of indices does it, in a Gather. Where the columns follow from a few numbers, other nodes do:
a Transpose, a Slice, a Tile, or a Gather along each of two axes.
"""

import math

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.model import DataType
from neat_onnx.network.genes import Ints, distinct
from neat_onnx.network.window import Sizes
from neat_onnx.operators.layout.arranging import Tile
from neat_onnx.operators.layout.shaping import Flatten, Gather, Reshape, Slice, Transpose
from neat_onnx.operators.layout.transposition import (
    Grid,
    axes_of_order,
    grid_of_order,
    repeats_of_order,
)

_MIN_COLUMNS_TILED = 16
_MIN_COPIES = 4
_MIN_COLUMNS_SLICED = 32  # side by side, or at even steps


def pick_columns(ctx: LoweringContext, held: Columns, wanted: Ints) -> str:
    """Gather the columns of `wanted` out of `held`, or transpose it where that is their order."""
    level = held.level
    if np.array_equal(held.signals, wanted):
        return held.tensor
    place = np.zeros(ctx.signals.count, np.int64)
    place[held.signals] = np.arange(len(held.signals))
    order = place[wanted]
    if len(wanted) == len(held.signals) and (axes := axes_of_order(order)):
        return _transposed(ctx, held, *axes)
    if period := period_of(order):
        one = Columns(pick_columns(ctx, held, wanted[:period]), wanted[:period], level)
        return _tiled(ctx, one.tensor, (len(order) // period,), level)
    if repeated := repeats_of_order(order):
        once = held.signals[np.min(order) :][: math.prod(repeated[0])]
        one = Columns(pick_columns(ctx, held, once), once, level)
        return _repeated(ctx, one, *repeated)
    if (step := _step_of(order)) > 0:
        return _sliced(ctx, held, (int(order[0]), int(order[-1]) + 1, 1, step))
    if grid := grid_of_order(order, len(held.signals)):
        return _on_grid(ctx, held, grid)
    if turned := _turned_part(ctx, held, order):
        return turned
    index = ctx.initializer(f"columns_l{level}", order, DataType.INT32)
    return ctx.emit(Gather, [held.tensor, index], f"Gather_{level}", f"gather_l{level}", axis=1)


def _on_grid(ctx: LoweringContext, held: Columns, grid: Grid) -> str:
    """The columns [N, width] of a grid."""
    level, tensor = held.level, _apart(ctx, held, grid.shape)
    for axis, (size, wanted) in enumerate(zip(grid.shape, grid[1:], strict=True), 1):
        if not np.array_equal(wanted, np.arange(size)):
            index = ctx.initializer(f"columns_l{level}", wanted, DataType.INT32)
            names = f"Gather_{level}", f"gather_l{level}"
            tensor = ctx.emit(Gather, [tensor, index], *names, axis=axis)
    return _side_by_side(ctx, tensor, level)


def _turned_part(ctx: LoweringContext, held: Columns, order: Ints) -> str | None:
    """A part of the columns, as a slice or a grid, with its axes in another order."""
    part = distinct(order)
    axes = axes_of_order(np.searchsorted(part, order)) if len(part) == len(order) else None
    if axes is None or not (_step_of(part) or grid_of_order(part, len(held.signals))):
        return None
    wanted = held.signals[part]
    one = Columns(pick_columns(ctx, held, wanted), wanted, held.level)
    return _transposed(ctx, one, *axes)


def _step_of(order: Ints) -> int:
    """The step of many columns from one to the next; 0 if they are few, or at no even steps."""
    steps = np.diff(order)
    even = len(order) >= _MIN_COLUMNS_SLICED and bool(np.all(steps == steps[0]))
    return max(int(steps[0]), 0) if even else 0


def _sliced(ctx: LoweringContext, held: Columns, numbers: tuple[int, int, int, int]) -> str:
    """Columns at even steps, by the numbers (start, end, axis, step)."""
    level, count = held.level, 3 if numbers[3] == 1 else 4
    bounds = [ctx.shared_integers("slice", [each]) for each in numbers[:count]]
    return ctx.emit(Slice, [held.tensor, *bounds], f"Slice_{level}", f"slice_l{level}")


def period_of(order: Ints) -> int:
    """The length of the columns of which many are several copies side by side; 0 if they are not.

    So are those that a distance to each of many points reads.
    """
    again = np.flatnonzero(order[1:] == order[:1])
    if len(order) < _MIN_COLUMNS_TILED or not again.size:
        return 0
    period = int(again[0]) + 1
    copies, rest = divmod(len(order), period)
    alike = copies >= _MIN_COPIES and not rest
    return period if alike and np.array_equal(order[period:], order[:-period]) else 0


def _tiled(ctx: LoweringContext, tensor: str, copies: Sizes, level: int) -> str:
    """Copies of a tensor along each axis."""
    repeats = ctx.shared_integers("repeats", [1, *copies])
    return ctx.emit(Tile, [tensor, repeats], f"Tile_{level}", f"tile_l{level}")


def _repeated(ctx: LoweringContext, held: Columns, shape: Sizes, copies: Sizes) -> str:
    """The columns [N, width], as if of `shape`, with copies along each of its axes."""
    tiled = _tiled(ctx, _apart(ctx, held, shape), copies, held.level)
    return _side_by_side(ctx, tiled, held.level)


def _transposed(ctx: LoweringContext, held: Columns, shape: Sizes, axes: Sizes) -> str:
    """The columns [N, width], as if of `shape`, with these axes in another order."""
    level = held.level
    order, names = (0, *(axis + 1 for axis in axes)), (f"Transpose_{level}", f"transpose_l{level}")
    turned = ctx.emit(Transpose, [_apart(ctx, held, shape)], *names, perm=order)
    return _side_by_side(ctx, turned, level)


def _apart(ctx: LoweringContext, held: Columns, shape: Sizes) -> str:
    """The columns [N, width] as [N, *shape]."""
    sizes = ctx.shared_integers("shape", [0, *shape])
    return ctx.emit(Reshape, [held.tensor, sizes], f"Apart_{held.level}", f"apart_l{held.level}")


def _side_by_side(ctx: LoweringContext, tensor: str, level: int) -> str:
    """A tensor [N, ...] as columns [N, width]."""
    return ctx.emit(Flatten, [tensor], f"Order_{level}", f"order_l{level}", axis=1)
