"""Choices, whatever the branch is that is not taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from neat_onnx.lifting.binary import negation, truth
from neat_onnx.lifting.joining import joined
from neat_onnx.lifting.pending import (
    Pending,
    broadcast_to,
    folded,
    is_neurons,
    result_type,
    same_signals,
    shape_of,
)
from neat_onnx.lifting.sums import add, multiply
from neat_onnx.network.domains import ANY, stays_finite
from neat_onnx.network.expression import Expression, constant, number
from neat_onnx.network.expression import where as where_

_INFINITE = 1e30
"""Stands for an infinity that is chosen by a computed condition, as in masks of attention: its
exponential is 0, beside it every other number vanishes, and a product with 0 is 0."""


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b, whatever the other one is there."""
    if not is_neurons(condition, a, b):
        return np.where(condition, a, b)
    shape = np.broadcast_shapes(*(shape_of(each) for each in (condition, a, b)))
    if not isinstance(condition, Pending):
        picked = np.broadcast_to(condition, shape)
        result = joined(
            [broadcast_to(x, shape) for x in (a, b)], lambda arrays: np.where(picked, *arrays)
        )
        return folded(result) if isinstance(result, Pending) else result
    dtype = result_type(*(x for x in (a, b))) if is_neurons(a, b) else np.result_type(a, b)
    a, b = (broadcast_to(_finite(x), shape) for x in (a, b))
    condition = broadcast_to(condition, shape)
    formula = _whole_choice(condition, a, b)
    if formula is not None:
        return condition.of(condition.ids, formula, 1.0, 0.0, dtype)
    holds = condition.of(condition.signals(), dtype=np.float64)
    fails = negation(condition).typed(np.float64)
    chosen = add(multiply(_guarded(a, holds), holds), multiply(_guarded(b, fails), fails))
    return chosen.typed(dtype) if isinstance(chosen, Pending) else chosen


def _finite(x: Any) -> Any:
    """Numbers with large ones for infinities."""
    if isinstance(x, Pending):
        if not x.has_constants or np.all(np.isfinite(x.shift)):
            return x
        shift = np.clip(x.shift, -_INFINITE, _INFINITE)
        return x.of(x.ids, x.formula, x.factor, shift, x.dtype)
    values = np.asarray(x)
    if np.any(np.isnan(values)) if values.dtype.kind == "f" else False:
        raise ValueError("a choice of NaN is not supported")
    return (
        np.where(np.isinf(values), np.sign(values) * _INFINITE, values)
        if values.dtype.kind == "f"
        else values
    )


def _whole_choice(condition: Pending, a: Any, b: Any) -> Expression | None:
    """The choice as a formula of the condition's signals, if all of it depends on these alone."""
    if condition.has_constants or not condition.is_plain:
        return None
    parts = []
    for each in (a, b):
        if isinstance(each, Pending):
            held = each if each._settled is None else each._settled
            if not same_signals(condition, held):
                return None
            parts.append(held.formula)
        else:
            if not each.size or np.any(each != each.flat[0]):
                return None
            parts.append(constant(float(each.flat[0])))
    holds = truth(condition.formula)
    return number(holds) if parts == [constant(1.0), constant(0.0)] else where_(holds, *parts)


def _guarded(x: Any, holds: Pending) -> Any:
    """A branch that is finite where it is not taken."""
    if not isinstance(x, Pending) or stays_finite(x.formula, ANY):
        return x
    harmless = next(
        (n for n in (1.0, 0.0, 0.5, 2.0, -1.0) if np.isfinite(x.formula.evaluate(np.array(n)))),
        None,
    )
    if harmless is None:
        return x
    inner = x.of(x.ids)
    kept = multiply(inner, holds)
    if harmless:
        kept = add(kept, multiply(add(multiply(holds, -1.0), 1.0), harmless))
    return x.of(kept.signals(), x.formula, x.factor, x.shift, x.dtype)
