"""Bringing values together: a tensor that has the columns which some neurons read.

The values of earlier levels stand in several tensors. A level may read one of them as it is, join
those it needs, join all there are (which later levels then extend), or gather exactly its columns.
Which is fastest depends on how many there are: the costs below were fitted to ONNX Runtime, in
units of one weight of a matrix product.
"""

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.placement import UNBOUND, Columns
from neat_onnx.model import DataType
from neat_onnx.network.genes import Ints, distinct, place_among
from neat_onnx.network.window import Sizes

_COST_OF_JOINED = 60  # an input of a Concat
_COST_OF_GATHERED = 200  # a column of a Gather
_COST_OF_GATHER = 5000
_MIN_EQUAL_FACTORS = 4  # of which one is written

BYTES_OF_COLUMN = 4
"""The size of each index of a Gather."""


_Way = tuple[float, bool, tuple[int, ...]]
"""The cost, whether columns are gathered, and the tensors that are joined, as positions."""


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
    best: _Way = _cost_of_joining(ctx, positions, 0) + gathered, True, positions
    best = _better(ctx, best, positions, needed, rows)
    if rows * ctx.places.width_before(level) < best[0]:
        places = enumerate(ctx.places.columns)
        earlier = tuple(k for k, columns in places if columns.level < level)
        best = _better(ctx, best, earlier, needed, rows)
    _, gather, joined = best
    held = Columns(_join(ctx, joined, level), _signals(ctx, joined), level)
    return Columns(_picked(ctx, held, needed), needed, level) if gather else held


def _better(
    ctx: LoweringContext, best: _Way, joined: tuple[int, ...], needed: Ints, rows: int
) -> _Way:
    """The cheaper of `best` and joining these, which must have nothing that may overflow."""
    cost = _cost_of_joining(ctx, joined, rows)
    if cost >= best[0]:
        return best
    harmful = ctx.signals.overflows.copy()
    harmful[needed] = False
    return best if np.any(harmful[_signals(ctx, joined)]) else (cost, False, joined)


def exactly(ctx: LoweringContext, wanted: Ints, level: int) -> str:
    """A tensor whose columns are the signals `wanted`, in that order, repeats allowed."""
    _bind_products(ctx, wanted, level)
    ctx.places.check_readable(wanted, level)
    read = np.concatenate([wanted, ctx.take_unread_inputs()])
    positions = tuple(dict.fromkeys(ctx.places.position[read].tolist()))
    held = Columns(_join(ctx, positions, level), _signals(ctx, positions), level)
    return _picked(ctx, held, wanted)


def in_shape(ctx: LoweringContext, wanted: Ints, level: int) -> str:
    """A tensor [N, *shape] of the signals `wanted`, which have that shape."""
    position = ctx.places.position[wanted.ravel()[0]] if wanted.size else UNBOUND
    held = ctx.places.columns[position]
    readable = position != UNBOUND and held.level <= level and not ctx.unread_inputs.size
    if readable and np.array_equal(held.signals, wanted.ravel()):
        fits, tensor = held.shape == wanted.shape, held.tensor
        return tensor if fits else _shaped(ctx, tensor, wanted.shape, level)
    return _shaped(ctx, exactly(ctx, wanted.ravel(), level), wanted.shape, level)


def _shaped(ctx: LoweringContext, tensor: str, shape: Sizes, level: int) -> str:
    """A tensor of one sample's `shape`."""
    key = (tensor, shape)
    if key not in ctx.places.shaped:
        sizes = ctx.shared_integers("shape", [0, *shape])
        names = f"Spatial_{level}", f"reshape_l{level}"
        ctx.places.shaped[key] = ctx.emit("Reshape", [tensor, sizes], *names)
    return ctx.places.shaped[key]


def _picked(ctx: LoweringContext, held: Columns, wanted: Ints) -> str:
    """The tensor of the columns `wanted` of `held`, in that order, repeats allowed."""
    if np.array_equal(held.signals, wanted):
        return held.tensor
    place = place_among(held.signals, ctx.signals.count)
    index = ctx.initializer(f"columns_l{held.level}", place[wanted], DataType.INT32)
    names = f"Gather_{held.level}", f"gather_l{held.level}"
    return ctx.emit("Gather", [held.tensor, index], *names, axis=1)


def flat_tensor(ctx: LoweringContext, held: Columns) -> str:
    """The tensor [N, width] of these columns."""
    if held.shape is None:
        return held.tensor
    key = (held.tensor, None)
    if key not in ctx.places.shaped:
        ctx.places.shaped[key] = ctx.emit("Flatten", [held.tensor], *held.flat, axis=1)
    return ctx.places.shaped[key]


def _bind_products(ctx: LoweringContext, signals: Ints, level: int) -> None:
    """Compute the signals that are products of a value and a gain, and not bound yet."""
    missing = signals[ctx.signals.are_products(signals) & (ctx.places.position[signals] == UNBOUND)]
    if not missing.size:
        return
    missing = distinct(missing)
    values, gains, scales = ctx.signals.factors(missing)
    value, gain = _factors(ctx, values, gains, level)
    if np.any(scales != 1.0):
        factor = ctx.initializer(f"scale_l{level}", scales)
        value = ctx.emit("Mul", [value, factor], f"Scaled_{level}", f"scale_l{level}")
    gated = ctx.emit("Mul", [value, gain], f"Gated_{level}", f"gate_l{level}")
    ctx.bind(missing, gated, level - 1)


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
            "Concat", parts, f"Concat_{level}", f"concat_l{level}", axis=1
        )
    return ctx.places.joined[positions]
