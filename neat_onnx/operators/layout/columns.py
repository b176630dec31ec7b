"""Bringing values together: a tensor that has the columns which some neurons read.

The values of earlier levels stand in several tensors. A level may read one of them as it is, join
those it needs, join all there are (which later levels then extend), or gather exactly its columns.
Which is fastest depends on how many there are: the costs below were fitted to ONNX Runtime, in
units of one weight of a matrix product.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.placement import UNBOUND, Columns
from neat_onnx.network.genes import Ints, distinct
from neat_onnx.network.window import Sizes
from neat_onnx.operators.formulas.elementwise import Mul
from neat_onnx.operators.layout.picking import pick_columns
from neat_onnx.operators.layout.shaping import Concat, Flatten, Reshape, Transpose
from neat_onnx.operators.layout.transposition import axes_of_order

_COST_OF_JOINED = 60  # an input of a Concat
_COST_OF_GATHERED = 200  # a column of a Gather
_COST_OF_GATHER = 5000
_MIN_WEIGHTS_CUT_OUT = 256  # by which a matrix is smaller
_MIN_WEIGHTS_CUT_OUT_OF_ONE = 1024  # the same where one column is left
_MIN_RUN = 3  # columns, on average
_MIN_TRANSPOSED = 8  # columns, between tensors of rows
_MAX_PARTS = 8  # that are joined
_MIN_COLUMNS_OF_PART = 16  # on average, of more parts; few of them are of no whole tensor
_MIN_COLUMNS_OF_WHOLE = 64  # of one of them that is a tensor as it is
_MIN_EQUAL_FACTORS = 4  # of which one is written
_MIN_UNLISTED = 4096  # products: in fewer, an order may be found that is shorter than a list

BYTES_OF_COLUMN = 4
"""The size of each index of a Gather."""


@dataclass(frozen=True)
class _Way:
    """Tensors to join (positions in `Placement.columns`), whether to gather from them, the cost."""

    cost: float
    positions: tuple[int, ...]
    gather: bool = False


def columns_for(ctx: LoweringContext, needed: Ints, rows: int, level: int) -> Columns:
    """A tensor whose columns include `needed`, for a matrix of `rows` rows.

    No other column is one that may overflow: a zero weight there would make 0 · ∞.

    Args:
        needed: signals, each once, at least one; on earlier levels, or products of such.
        level: the level that reads them; names the nodes that this takes.
    """
    _bind_products(ctx, needed, level)
    ctx.places.check_readable(needed, level)
    positions = tuple(distinct(ctx.places.position[needed]).tolist())
    gathered = _COST_OF_GATHER + (_COST_OF_GATHERED + rows) * len(needed)
    best = _Way(_cost_of_joining(ctx, positions, 0) + gathered, positions, gather=True)
    best = _better(ctx, best, positions, needed, rows)
    if rows * ctx.places.width_before(level) < best.cost:
        places = enumerate(ctx.places.columns)
        earlier = tuple(k for k, columns in places if columns.level < level)
        best = _better(ctx, best, earlier, needed, rows)
    if not best.gather and (parts := _cut_apart(ctx, best.positions, needed, rows, level)):
        return parts
    held = Columns(_join(ctx, best.positions, level), _signals(ctx, best.positions), level)
    if best.gather or _is_cut_out(held.signals, needed, rows):
        return Columns(pick_columns(ctx, held, needed), needed, level)
    return held


def _cut_apart(
    ctx: LoweringContext, positions: tuple[int, ...], needed: Ints, rows: int, level: int
) -> Columns | None:
    """The columns of several tensors, of one or more of which most are cut away before; or None.

    So are the inputs of one step, beside the state that the step before left.
    """
    held = [ctx.places.columns[position] for position in positions]
    wanted = [each.signals[np.isin(each.signals, needed)] for each in held]
    cut = [_is_cut_out(each.signals, part, rows) for each, part in zip(held, wanted, strict=True)]
    if len(held) < 2 or not any(cut):
        return None
    parts = []
    for each, part, is_cut in zip(held, wanted, cut, strict=True):
        flat = Columns(flat_tensor(ctx, each), each.signals, level)
        parts.append(pick_columns(ctx, flat, part) if is_cut else flat.tensor)
    kept = zip(held, wanted, cut, strict=True)
    signals = np.concatenate([part if is_cut else each.signals for each, part, is_cut in kept])
    names = f"Concat_{level}", f"concat_l{level}"
    return Columns(ctx.emit(Concat, parts, *names, axis=1), signals, level)


def _is_cut_out(signals: Ints, needed: Ints, rows: int) -> bool:
    """Whether `needed` is a few runs of these columns, or columns at even distances, and the rest
    would be many zeros.

    So is one step of a sequence, and the values of a layer that was unrolled; genomes that evolved
    read columns here and there. One column is read by constants, with weights of 0.
    """
    less = len(signals) - len(needed)
    if rows * less < _MIN_WEIGHTS_CUT_OUT or less < len(needed):
        return False
    among = np.zeros(1 + max(signals.max(), needed.max()), np.bool_)
    among[needed] = True
    wanted = among[signals]
    runs = np.count_nonzero(np.diff(wanted, prepend=False) & wanted)
    alone = len(needed) == 1 and rows * less >= _MIN_WEIGHTS_CUT_OUT_OF_ONE
    distances = np.diff(np.flatnonzero(wanted))
    evenly = len(needed) >= _MIN_RUN and bool(np.all(distances == distances[0]))
    return alone or evenly or runs == 1 or bool(runs * _MIN_RUN <= len(needed))


def _better(
    ctx: LoweringContext, best: _Way, joined: tuple[int, ...], needed: Ints, rows: int
) -> _Way:
    """The cheaper of `best` and joining these, which must have nothing that may overflow."""
    cost = _cost_of_joining(ctx, joined, rows)
    if cost >= best.cost:
        return best
    harmful = ctx.signals.overflows.copy()
    harmful[needed] = False
    return best if np.any(harmful[_signals(ctx, joined)]) else _Way(cost, joined)


def exactly(ctx: LoweringContext, wanted: Ints, level: int) -> str:
    """A tensor whose columns are the signals `wanted`, in that order, repeats allowed."""
    _bind_products(ctx, wanted, level)
    ctx.places.check_readable(wanted, level)
    if parts := _whole_parts(ctx, wanted, level):
        return parts
    read = np.concatenate([wanted, ctx.take_unread_inputs()])
    positions = tuple(dict.fromkeys(ctx.places.position[read].tolist()))
    held = Columns(_join(ctx, positions, level), _signals(ctx, positions), level)
    return held.tensor if np.array_equal(held.signals, wanted) else pick_columns(ctx, held, wanted)


def _whole_parts(ctx: LoweringContext, wanted: Ints, level: int) -> str | None:
    """Columns of one tensor after another, where some tensor is one of the parts as it is: a list
    of them would be long. Constants around a tensor stay in it: they are found as its padding.
    """
    position = ctx.places.position[wanted]
    starts = np.flatnonzero(np.diff(position, prepend=UNBOUND))
    if not 1 < len(starts) <= max(_MAX_PARTS, len(wanted) // _MIN_COLUMNS_OF_PART):
        return None
    if ctx.has_unread_inputs:
        return None
    constant = np.flatnonzero((ctx.fan_in == 0) & ~ctx.net.is_input)
    if np.any(np.isin(wanted, constant)):
        return None
    parts = [
        (ctx.places.columns[position[start]], part)
        for start, part in zip(starts, np.split(wanted, starts[1:]), strict=True)
    ]
    whole = [len(part) for held, part in parts if np.array_equal(held.signals, part)]
    others = len(wanted) - sum(whole)
    if max(whole, default=0) < _MIN_COLUMNS_OF_WHOLE or not others:
        return None
    if len(starts) > _MAX_PARTS and others * _MIN_COLUMNS_OF_PART > len(wanted):
        return None
    picked = [
        pick_columns(ctx, Columns(flat_tensor(ctx, held), held.signals, level), part)
        for held, part in parts
    ]
    return ctx.emit(Concat, picked, f"Concat_{level}", f"concat_l{level}", axis=1)


def in_shape(ctx: LoweringContext, wanted: Ints, level: int) -> str:
    """A tensor [N, *shape] of the signals `wanted`, which have that shape."""
    position = ctx.places.position[wanted.ravel()[0]] if wanted.size else UNBOUND
    held = ctx.places.columns[position]
    if position != UNBOUND and held.level <= level and not ctx.has_unread_inputs:
        if np.array_equal(held.signals, wanted.ravel()):
            fits, tensor = held.shape == wanted.shape, held.tensor
            return tensor if fits else _shaped(ctx, tensor, wanted.shape, level)
        if turned := _turned(ctx, held, wanted, level):
            return turned
    return _shaped(ctx, exactly(ctx, wanted.ravel(), level), wanted.shape, level)


def _shaped(ctx: LoweringContext, tensor: str, shape: Sizes, level: int) -> str:
    """A tensor of one sample's `shape`."""
    key = (tensor, shape)
    if key not in ctx.places.shaped:
        sizes = ctx.shared_integers("shape", [0, *shape])
        names = f"Spatial_{level}", f"reshape_l{level}"
        ctx.places.shaped[key] = ctx.emit(Reshape, [tensor, sizes], *names)
    return ctx.places.shaped[key]


def _turned(ctx: LoweringContext, held: Columns, wanted: Ints, level: int) -> str | None:
    """The columns with their axes in the order of `wanted`, if they are all in it, as one of axes.

    It needs no list of indices, and no Flatten on either side.
    """
    if len(held.signals) != wanted.size:
        return None
    place = np.argsort(held.signals)
    at = np.minimum(np.searchsorted(held.signals, wanted.ravel(), sorter=place), wanted.size - 1)
    order = place[at]
    if not np.array_equal(held.signals[order], wanted.ravel()):
        return None
    axes = axes_of_order(order, _MIN_TRANSPOSED)
    if axes is None:
        return None
    shape, perm = axes
    key = (f"{held.tensor} {perm}", shape)
    if key not in ctx.places.shaped:
        reshaped = held.tensor if held.shape == shape else _shaped(ctx, held.tensor, shape, level)
        names = f"Transpose_{level}", f"transpose_l{level}"
        ctx.places.shaped[key] = ctx.emit(
            Transpose, [reshaped], *names, perm=(0, *(axis + 1 for axis in perm))
        )
    result = ctx.places.shaped[key]
    same = tuple(shape[axis] for axis in perm) == wanted.shape
    return result if same else _shaped(ctx, result, wanted.shape, level)


def flat_tensor(ctx: LoweringContext, held: Columns) -> str:
    """The tensor [N, width] of these columns."""
    if held.shape is None:
        return held.tensor
    key = (held.tensor, None)
    if key not in ctx.places.shaped:
        ctx.places.shaped[key] = ctx.emit(Flatten, [held.tensor], *held.flat, axis=1)
    return ctx.places.shaped[key]


def _bind_products(ctx: LoweringContext, signals: Ints, level: int) -> None:
    """Compute the signals that are products of a value and a gain, and not bound yet."""
    missing = signals[ctx.signals.are_products(signals) & (ctx.places.position[signals] == UNBOUND)]
    if not missing.size:
        return
    missing = _ordered_products(ctx, missing)
    values, gains, scales = ctx.signals.factors(missing)
    value, gain = _factors(ctx, values, gains, level)
    if np.any(scales != 1.0):
        factor = ctx.initializer(f"scale_l{level}", scales)
        value = ctx.emit(Mul, [value, factor], f"Scaled_{level}", f"scale_l{level}")
    gated = ctx.emit(Mul, [value, gain], f"Gated_{level}", f"gate_l{level}")
    ctx.bind(missing, gated, level - 1)


def _ordered_products(ctx: LoweringContext, products: Ints) -> Ints:
    """Products, each once: by their factors, or as they are read where both factors are gathered in
    either order, which needs no list of the products.
    """
    ordered = distinct(products)
    if len(products) < _MIN_UNLISTED or len(ordered) < len(products):
        return ordered
    steps = [np.diff(each) for each in ctx.signals.factors(ordered)[:2]]
    gathered = all(np.any(each != 1) and np.any(each != 0) for each in steps)
    return products if gathered else ordered


def _factors(ctx: LoweringContext, values: Ints, gains: Ints, level: int) -> tuple[str, str]:
    """Tensors whose product has a column for each value and its gain: many of one are one column,
    which broadcasts.
    """
    gain = gains[:1] if len(gains) >= _MIN_EQUAL_FACTORS and np.all(gains == gains[0]) else gains
    alone = len(gain) == len(gains) >= _MIN_EQUAL_FACTORS and np.all(values == values[0])
    return exactly(ctx, values[:1] if alone else values, level), exactly(ctx, gain, level)


def _signals(ctx: LoweringContext, positions: tuple[int, ...]) -> Ints:
    return np.concatenate([ctx.places.columns[position].signals for position in positions])


def _cost_of_joining(ctx: LoweringContext, positions: tuple[int, ...], rows: int) -> float:
    done = _longest_prefix(ctx, positions)
    inputs = 0 if done == len(positions) else len(positions) - done + 1
    return (
        rows * sum(len(ctx.places.columns[position].signals) for position in positions)
        + _COST_OF_JOINED * inputs
    )


def _longest_prefix(ctx: LoweringContext, positions: tuple[int, ...]) -> int:
    """The length, 1 or more, of the longest prefix of `positions` that is joined already."""
    return max(
        (len(key) for key in ctx.places.joined if key == positions[: len(key)]),
        default=min(1, len(positions)),
    )


def _join(ctx: LoweringContext, positions: tuple[int, ...], level: int) -> str:
    """The tensor that joins `positions`, extending one that joins the first of them already."""
    if len(positions) == 1:
        return flat_tensor(ctx, ctx.places.columns[positions[0]])
    if positions not in ctx.places.joined:
        done = _longest_prefix(ctx, positions)
        first = _join(ctx, positions[:done], level)
        parts = [
            first,
            *(flat_tensor(ctx, ctx.places.columns[position]) for position in positions[done:]),
        ]
        ctx.places.joined[positions] = ctx.emit(
            Concat, parts, f"Concat_{level}", f"concat_l{level}", axis=1
        )
    return ctx.places.joined[positions]
