"""What makes neurons: sums, products, aggregations, and elements by their order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from neat_onnx.lifting.pending import (
    Pending,
    aligned,
    broadcast_to,
    combined,
    common_shape,
    folded,
    is_neurons,
    one_number,
    result_type,
    same_signals,
)
from neat_onnx.lifting.tape import CONSTANT, Merging, Rank
from neat_onnx.model.budget import require_elements
from neat_onnx.network.expression import VARIABLE, Expression, call
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.network.window import Window

Axes = int | Sequence[int] | None


def add(a: Any, b: Any) -> Any:
    """a + b."""
    if not isinstance(a, Pending):
        if not isinstance(b, Pending):
            return a + b
        a, b = b, a
    dtype = result_type(a, b)
    if not isinstance(b, Pending):
        return _shifted(a, b, dtype)
    return _added("add", a, b, dtype, 1.0)


def subtract(a: Any, b: Any) -> Any:
    """a - b."""
    if not is_neurons(a, b):
        return a - b
    dtype = result_type(a, b)
    if not isinstance(b, Pending):
        number = one_number(b, a)
        if isinstance(number, float) and math.isfinite(number):
            return _with_number(a, b, call("sub", VARIABLE, number), dtype)
        return _shifted(a, -np.asarray(b, np.float64), dtype)
    if isinstance(a, Pending):
        return _added("sub", a, b, dtype, -1.0)
    number = one_number(a, b)
    if isinstance(number, float) and math.isfinite(number):
        return _with_number(b, a, call("sub", number, VARIABLE), dtype)
    return _shifted(multiply(b, -1.0), a, dtype)


def _with_number(x: Pending, other: Any, formula: Expression, dtype: Any) -> Pending:
    """A formula of one number and each element."""
    if np.ndim(other):
        x = broadcast_to(x, common_shape(x, other))
    return x.apply(formula, dtype)


def _added(op: str, a: Pending, b: Pending, dtype: Any, sign: float) -> Any:
    shape = common_shape(a, b)
    a, b = aligned(a, b, shape)
    if same_signals(a, b):
        found = combined(op, a, b, dtype)
        if found is not None:
            return found
    if a.tape.ranks and op == "add" and (median := _median_of_two(a, b)) is not None:
        return median
    (one, f, s), (other, g, t) = a.linear(), b.linear()
    source = np.stack([one.ravel(), other.ravel()], axis=1)
    alike = isinstance(f, float) and isinstance(g, float) and f == g != 1.0
    if alike and a.tape.ids:  # the slope of a recurrent layer, in both of its Gemms
        total = _sum(a, source, _paired(1.0, sign, shape), (s + sign * t) / f, shape, dtype)
        return multiply(total, f)
    return _sum(a, source, _paired(f, sign * g, shape), s + sign * t, shape, dtype)


def _paired(f: Floats | float, g: Floats | float, shape: tuple[int, ...]) -> Floats | None:
    if isinstance(f, float) and isinstance(g, float) and f == g == 1.0:
        return None
    pair = [np.broadcast_to(each, shape).ravel() for each in (f, g)]
    return np.stack(pair, axis=1)


def _sum(
    x: Pending,
    source: Ints,
    weight: Floats | None,
    bias: Floats | float,
    shape: tuple[int, ...],
    dtype: Any,
    gate: Ints | None = None,
    merging: Merging = "response",
) -> Pending:
    """Sums over the rows of `source`; those of infinite numbers, or of no signal, are numbers."""
    flat = bias if isinstance(bias, float) else broadcast_to(bias, shape).ravel()
    if source.size and source.shape[1] and source.min() >= 0 and np.isfinite(flat).all():
        made = x.tape.add_neurons(source, weight, gate, bias=flat, merging=merging)
        return x.of(made.reshape(shape), dtype=dtype)
    flat = np.broadcast_to(flat, len(source))
    live = np.isfinite(flat) & (source >= 0).any(axis=1)
    made = np.full(len(source), CONSTANT)
    made[live] = x.tape.add_neurons(
        source[live],
        None if weight is None else weight[live],
        None if gate is None else gate[live],
        bias=flat[live],
        merging=merging,
    )
    shift = np.where(live, 0.0, flat).reshape(shape)
    return x.of(made.reshape(shape), VARIABLE, 1.0, shift, dtype)


def _shifted(a: Pending, b: Any, dtype: np.dtype[Any]) -> Pending:
    """Pending plus numbers; an infinity beside a signal is infinite."""
    more = one_number(b, a)
    if isinstance(more, float) and math.isfinite(more):
        return _with_number(a, b, call("add", VARIABLE, more), dtype) if more else a
    shape = common_shape(a, b)
    a = broadcast_to(a, shape)
    with np.errstate(invalid="ignore"):
        shift = np.asarray(a.shift + np.broadcast_to(more, shape))
    ids = a.ids
    if not np.all(finite := np.isfinite(shift)):
        ids = np.where(finite, ids, CONSTANT)
    found = a.of(ids, a.formula, a.factor, shift, dtype)
    return found.like(a, lambda exact: add(exact, b))


def multiply(a: Any, b: Any) -> Any:
    """a · b."""
    if not isinstance(a, Pending):
        if not isinstance(b, Pending):
            return a * b
        a, b = b, a
    dtype = result_type(a, b)
    if not isinstance(b, Pending):
        return _scaled(a, b, dtype)
    shape = common_shape(a, b)
    a, b = aligned(a, b, shape)
    gates_itself = a.formula is VARIABLE and a.tape.has_ids(a.ids)
    if same_signals(a, b) and not gates_itself:
        found = combined("mul", a, b, dtype)
        if found is not None:
            return found
    column = methodcaller("reshape", -1, 1)  # each product is a gated connection of its own
    return _sum_of_products(a, b, column, column, shape, dtype, "response")


def _scaled(a: Pending, b: Any, dtype: np.dtype[Any]) -> Any:
    factor = one_number(b, a)
    if isinstance(factor, float) and factor and math.isfinite(factor):
        if factor == 1.0:
            return broadcast_to(a, common_shape(a, b))
        formula = -VARIABLE if factor == -1.0 else call("mul", factor, VARIABLE)
        return _with_number(a, b, formula, dtype)
    shape = common_shape(a, b)
    a = broadcast_to(a, shape).settled()
    factor = np.broadcast_to(factor, shape)
    if not np.all(np.isfinite(factor[a.ids >= 0])):
        raise ValueError("a product with an infinite constant is not finite")
    none = factor == 0.0 if np.ndim(b) == 0 else a.ids < 0
    ids = np.where(none, CONSTANT, a.ids)
    with np.errstate(invalid="ignore"):
        shift = np.where(factor == 0.0, 0.0, a.shift) * factor
    return folded(a.of(ids, a.formula, a.factor * factor, shift, dtype))


def matmul(a: Any, b: Any, bias: Any = None) -> Any:
    """As numpy's, and a bias if there is one: sums of products, or of products with numbers.

    Numbers are weights of neurons as they are, and so are numbers that are a bias.
    """
    if bias is not None and (isinstance(a, Pending) == isinstance(b, Pending) or is_neurons(bias)):
        return add(matmul(a, b), bias)
    if not is_neurons(a, b):
        require_elements(*np.shape(a)[:-1], *np.shape(b)[-1:])
        return np.matmul(a, b)
    if a.ndim == 1 or b.ndim == 1:
        return _of_vectors(a, b)
    if not isinstance(a, Pending):
        turned = None if bias is None else np.swapaxes(np.atleast_2d(bias), -1, -2)
        return matmul(b.swapaxes(-1, -2), np.swapaxes(a, -1, -2), turned).swapaxes(-1, -2)
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"a product of the shapes {list(a.shape)} and {list(b.shape)}")
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    shape, wide = (*lead, m, n), (*lead, m, n, k)

    def of_rows(values: Any) -> Any:
        return broadcast_to(values, (*lead, m, k)).repeat(n, axis=-2).reshape(math.prod(shape), k)

    def of_columns(values: Any) -> Any:
        turned = np.swapaxes(values, -1, -2)[..., None, :, :]
        return broadcast_to(turned, wide).reshape(math.prod(shape), k)

    a.tape.budget.require("connections", math.prod(wide), a.tape.where)
    if isinstance(b, Pending):
        return _sum_of_products(a, b, of_rows, of_columns, shape, a.dtype)
    matrix = np.asarray(b, np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError("a product with an infinite constant is not finite")
    a = a.as_sources()
    given: Floats | float = 0.0
    if bias is not None:
        given = broadcast_to(np.asarray(bias, np.float64), shape)
    if a.has_constants:
        given = given + np.matmul(a.numbers(), matrix)
    ids = a.ids
    alike = m * math.prod(lead) > 1 and matrix.ndim == 2
    result = _sum(a, of_rows(ids), of_columns(matrix), given, shape, a.dtype, None, "")
    if alike and not result.has_constants and ids.min() >= 0:
        a.tape.apart.append(result.ids)
        rows = ids.reshape(-1, k).T, result.ids.reshape(-1, n).T
        a.tape.hints.append(SpatialBlock("Conv", *rows, Window((1,))))
    return result


def _of_vectors(a: Any, b: Any) -> Any:
    """A product of which one side, or both, has one axis."""
    if b.ndim == 1:
        return matmul(a, b[:, None])[..., 0]
    return matmul(a[None, :], b)[..., 0, :]


def _sum_of_products(
    a: Pending, b: Pending, of_rows: Any, of_columns: Any, shape: tuple[int, ...], dtype: Any,
    merging: Merging = "",
) -> Pending:  # fmt: skip
    """Each connection from an element of one is gated by an element of the other.

    What an element adds to its signal is a factor of the other's, without a gate.
    """
    a, b = a.as_factor(), b.as_factor()
    (ids, f, s), (gates, g, t) = a.linear(), b.linear()
    f, s = (of_rows(np.broadcast_to(each, ids.shape)) for each in (f, s))
    g, t = (of_columns(np.broadcast_to(each, gates.shape)) for each in (g, t))
    source, gate = of_rows(ids), of_columns(gates)
    both = (source >= 0) & (gate >= 0)
    sources, weights = [np.where(both, source, CONSTANT)], [f * g]
    gating = [np.where(both, gate, CONSTANT)]
    for signals, factors, numbers in ((source, f, t), (gate, g, s)):
        if np.any(numbers):
            sources.append(np.where(numbers != 0.0, signals, CONSTANT))
            weights.append(factors * numbers)
            gating.append(np.full(signals.shape, CONSTANT))
    every, weight, gated = (np.concatenate(each, axis=1) for each in (sources, weights, gating))
    bias = (s * t).sum(axis=1).reshape(shape)
    return _sum(a, every, weight, bias, shape, dtype, gated, merging)


_NEUTRAL = {"max": -math.inf, "min": math.inf}


def aggregated(
    x: Pending, name: str, axis: Axes = None, *, keepdims: bool = False, skip: bool = False
) -> Any:
    """Reduce axes by an aggregation of networks: sum, mean, max, min, product, median, maxabs.

    Infinities that change nothing, as -inf under max, are left out, and zeros of a sum; with
    `skip` so is every element that is a number.
    """
    axes = _axes(axis, x.ndim)
    count = math.prod(x.shape[k] for k in axes)
    result = _reduced(_rows(x, axes, count), name, skip=skip)
    kept = [d for k, d in enumerate(x.shape) if k not in axes]
    shape = [1 if k in axes else d for k, d in enumerate(x.shape)] if keepdims else kept
    return result.reshape(tuple(shape))


def _reduced(rows: Pending, name: str, *, skip: bool) -> Any:
    """Aggregate each row of (rows, count)."""
    count = rows.shape[1]
    if count == 1 and not (skip and rows.has_constants):
        return rows[:, 0]
    if count == 0 and name in ("mean", "median", "maxabs"):
        raise ValueError(f"the {name} of no elements")
    if name == "sum":
        return _total(rows, None)
    if name == "mean" and not skip and rows.has_constants:
        return _total(rows, 1.0 / count)
    ids, factor, shift = rows.linear()
    if np.any(np.asarray(shift)):
        rows = rows.plain()
        ids, factor, _ = rows.linear()
    elif name in _NEUTRAL and rows.tape.ranks:
        found = _one_of_known_ranks(rows, ids, name)
        if found is not None:
            return found
    if rows.has_constants and not skip:
        neutral = _NEUTRAL.get(name)
        held = ids < 0
        numbers = np.broadcast_to(rows.numbers(), rows.shape)
        kept = held & (numbers != neutral) if neutral is not None else held
        if not np.all(np.isfinite(numbers[kept])):
            raise ValueError(f"{name} of an infinite constant is not supported")
        ids = ids.copy()
        ids[kept] = rows.tape.add_constants(numbers[kept])
    weight = (
        None if isinstance(factor, float) and factor == 1.0 else np.broadcast_to(factor, ids.shape)
    )
    live = (ids >= 0).any(axis=1)
    made = np.full(len(ids), CONSTANT)
    made[live] = rows.tape.add_neurons(
        ids[live], None if weight is None else weight[live], aggregation=name
    )
    if live.all():
        return rows.of(made, dtype=rows.dtype)
    numbers = np.where(live, 0.0, _NEUTRAL.get(name, 1.0 if name == "product" else 0.0))
    return rows.of(made, VARIABLE, 1.0, numbers, rows.dtype)


def _total(rows: Pending, scale: float | None) -> Any:
    ids, factor, shift = rows.linear()
    weight = None
    if not isinstance(factor, float) or factor != 1.0:
        weight = np.broadcast_to(factor, ids.shape)
        ids = np.where(weight == 0.0, CONSTANT, ids)
    with np.errstate(invalid="ignore"):
        bias = np.broadcast_to(shift, ids.shape).sum(axis=1)
    if scale is not None:
        weight = np.full(ids.shape, scale) if weight is None else weight * scale
        bias = bias * scale
    if ids.shape[1] == 1 and scale is None:
        return rows[:, 0]
    return folded(_sum(rows, ids, weight, bias, (len(ids),), rows.dtype))


def apart(x: Any) -> Any:
    """Neurons that are part of no others, with nothing pending."""
    if not isinstance(x, Pending):
        return x
    plain = x.plain()
    plain.tape.known_apart.append(plain.ids[plain.ids >= 0])
    return plain


def copied(x: Any) -> Any:
    """Neurons that hand values on."""
    if not isinstance(x, Pending):
        return x
    ids = x.signals()
    return x.of(x.tape.add_neurons(ids.reshape(-1, 1)).reshape(x.shape))


def affine(x: Any, factor: Any, shift: Any) -> Any:
    """factor · x + shift with numbers that belong to the weights of x, as a normalization's do."""
    result = add(multiply(x, factor), shift)
    return result.as_neurons("weights") if isinstance(result, Pending) else result


def _axes(axis: Axes, rank: int) -> tuple[int, ...]:
    axes = range(rank) if axis is None else np.atleast_1d(axis).tolist()
    return tuple(each % rank for each in axes)


def _rows(x: Any, axes: tuple[int, ...], count: int) -> Any:
    """The elements that are reduced, each set in a row: (rows, count)."""
    rank = x.ndim
    order = [k for k in range(rank) if k not in axes] + list(axes)
    rows = math.prod(x.shape[k] for k in range(rank) if k not in axes)
    return x.transpose(order).reshape(rows, count)


# --- elements by their order ----------------------------------------------------------------------
#
# The element of rank k is the median of all elements and of as many infinities as put it in the
# middle. What is known of such signals lets an export come back as it was: the mean of the two
# elements in the middle is the median, and the element at the first place of the largest magnitude
# is the aggregation maxabs.

_INFINITE = float(np.finfo(np.float32).max)
"""Stands for an infinity, which no neuron has."""


def ranked(x: Pending, ranks: Sequence[int]) -> Pending:
    """The elements of these ranks along the last axis, 1 for the smallest: (…, ranks).

    Elements are at most the largest number of float32.
    """
    tape, size = x.tape, x.shape[-1]
    rows = x.reshape(-1, size)
    ids, factor, shift = rows.linear()
    if rows.has_constants or np.any(np.asarray(shift)):
        ids, factor = rows.signals().reshape(-1, size), 1.0
    weight = np.broadcast_to(factor, ids.shape)
    elements = [rows[row : row + 1] for row in range(len(ids))]
    made = np.empty((len(ids), len(ranks)), np.int64)
    for column, rank in enumerate(ranks):
        lacking = 0 if rank in (1, size) else size + 1 - 2 * rank
        name = "min" if rank == 1 else "max" if rank == size else "median"
        filling = tape.add_constants(
            np.full((len(ids), abs(lacking)), -np.sign(lacking) * _INFINITE)
        )
        made[:, column] = tape.add_neurons(
            np.concatenate([ids, filling], axis=1),
            np.concatenate([weight, np.ones(filling.shape)], axis=1),
            aggregation=name,
        )
        for row, signal in enumerate(made[:, column].tolist()):
            tape.ranks[signal] = Rank(
                ids[row].tobytes() + weight[row].tobytes(), rank, elements[row]
            )
    return x.of(made.reshape(*x.shape[:-1], len(ranks)))


def _one_of_known_ranks(rows: Pending, ids: Ints, name: str) -> Pending | None:
    """The largest or smallest of elements that are known by their ranks among the same ones."""
    chosen = []
    for row in ids.tolist():
        known = [rows.tape.ranks.get(signal) for signal in row]
        if None in known or len({each.key for each in known if each is not None}) > 1:
            return None
        ranks = [each.rank for each in known if each is not None]
        chosen.append(row[ranks.index(max(ranks) if name == "max" else min(ranks))])
    return rows.of(np.array(chosen, np.int64)) if rows.formula is VARIABLE else None


def _median_of_two(a: Pending, b: Pending) -> Pending | None:
    """The sum of the two elements in the middle of others, as twice their median."""
    ranks, medians = a.tape.ranks, []
    for pair in zip(a.ids.ravel().tolist(), b.ids.ravel().tolist(), strict=True):
        one, other = (ranks.get(signal) for signal in pair)
        if one is None or other is None or one.key != other.key:
            return None
        size = one.row.shape[1]
        if size % 2 or {one.rank, other.rank} != {size // 2, size // 2 + 1}:
            return None
        medians.append(aggregated(one.row, "median", 1).ids)
    if not all(each.is_plain and each.formula is VARIABLE for each in (a, b)):
        return None
    return a.of(np.concatenate(medians).reshape(a.shape)).apply(call("mul", 2.0, VARIABLE))


def remember_places(places: Any, rows: Any) -> None:
    """Keep that `places`, (…), are the first ones of the largest elements of `rows`, (…, n)."""
    if not (isinstance(places, Pending) and isinstance(rows, Pending) and rows.is_plain):
        return
    ids = rows.ids.reshape(-1, rows.shape[-1])
    for row, signal in enumerate(places.signals().ravel().tolist()):
        places.tape.places[signal] = ids[row].tobytes(), rows.formula


def at_largest(places: Pending, data: Pending, axis: int) -> Any:
    """The elements at places, if these are of the largest magnitude along the axis; else None."""
    tape, held = data.tape, data if data._settled is None else data._settled
    if not tape.places or not held.is_plain or places.shape[axis] != 1:
        return None
    rows = np.moveaxis(held.ids, axis, -1).reshape(-1, data.shape[axis])
    wanted = abs(held.formula)
    for row, signal in zip(rows, places.signals().ravel().tolist(), strict=True):
        if tape.places.get(signal) != (row.tobytes(), wanted):
            return None
    return aggregated(data, "maxabs", axis, keepdims=True)
