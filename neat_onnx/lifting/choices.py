"""Choices, whatever the branch is that is not taken.

A signal that may be infinite or NaN for moderate inputs, as quotients and logarithms are, is kept
out where it is not taken: 0 · infinity is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from neat_onnx.lifting.binary import negation, truth
from neat_onnx.lifting.pending import (
    Pending,
    broadcast_to,
    folded,
    is_neurons,
    joined,
    result_type,
    same_signals,
    shape_of,
)
from neat_onnx.lifting.sums import add, multiply
from neat_onnx.lifting.tape import FormulaGroup, Tape
from neat_onnx.network.bounds import stays_finite
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    constant,
    is_nan,
    log,
    negated,
    number,
    sqrt,
)
from neat_onnx.network.expression import where as where_
from neat_onnx.network.genes import Ints


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
    dtype = result_type(a, b) if is_neurons(a, b) else np.result_type(a, b)
    a, b = (broadcast_to(x, shape) for x in (a, b))
    condition = broadcast_to(condition, shape)
    formula = _whole_choice(condition, a, b)
    if formula is not None:
        return condition.of(condition.ids, formula, 1.0, 0.0, dtype)
    holds = condition.of(condition.signals(), dtype=np.float64)
    fails = negation(condition).typed(np.float64)
    chosen = add(_taken(a, holds, fails), _taken(b, fails, holds))
    return chosen.typed(dtype) if isinstance(chosen, Pending) else chosen


def _taken(x: Any, holds: Pending, fails: Pending) -> Any:
    """x where the condition holds, and 0 where it fails."""
    x, signs = _without_infinities(x)
    if isinstance(x, Pending) and may_be_infinite(x.tape, x.ids):
        result = multiply(x, holds).apply(where_(is_nan(VARIABLE), 0.0, VARIABLE))
        wrong = multiply(x.apply(number(is_nan(VARIABLE))), holds)
        result = add(result, wrong.apply(sqrt(-VARIABLE)))  # NaN that is chosen
    else:
        result = multiply(_guarded(x, holds), holds)
    if not np.any(signs):
        return result
    low = fails.apply(log(VARIABLE))  # -infinity where the condition holds
    return add(result, where(signs < 0, low, where(signs > 0, multiply(low, -1.0), 0.0)))


def _without_infinities(x: Any) -> tuple[Any, Any]:
    """x with 0 for numbers that are infinite, and their signs."""
    values = np.asarray(x.numbers() if isinstance(x, Pending) else x, np.float64)
    if np.any(np.isnan(values)):
        raise ValueError("a choice of NaN is not supported")
    infinite = np.isinf(values)
    if not np.any(infinite):
        return x, 0.0
    signs = np.where(infinite, np.sign(values), 0.0)
    if not isinstance(x, Pending):
        return np.where(infinite, 0.0, values), signs
    return x.of(x.ids, x.formula, x.factor, np.where(infinite, 0.0, x.shift), x.dtype), signs


def _whole_choice(condition: Pending, a: Any, b: Any) -> Expression | None:
    """The choice as a formula of the condition's signals, if all of it depends on these alone."""
    if condition.has_constants or not condition.is_plain:
        return None
    parts: list[Expression] = []
    for each in (a, b):
        if isinstance(each, Pending):
            held = each if each._settled is None else each._settled
            if not same_signals(condition, held):
                return None
            parts.append(held.formula)
        else:
            if not each.size or np.any(each != each.flat[0]):
                return None
            value = float(each.flat[0])
            if np.isinf(value):
                other = truth(condition.formula)
                low = log(number(negated(other) if not parts else other))
                parts.append(low if value < 0 else -low)
            else:
                parts.append(constant(value))
    holds = truth(condition.formula)
    return number(holds) if parts == [constant(1.0), constant(0.0)] else where_(holds, *parts)


def _guarded(x: Any, holds: Pending) -> Any:
    """A branch that is finite where it is not taken."""
    if not isinstance(x, Pending):
        return x
    if stays_finite(x.formula):
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


# --- signals that may be infinite -----------------------------------------------------------------


def may_be_infinite(tape: Tape, signals: Ints) -> bool:
    """Whether one of these signals may be infinite or NaN: it depends on a formula that may be."""
    known = tape.infinite
    found = np.concatenate([known, np.zeros(tape.count - len(known), np.bool_)])
    for group in tape.groups:
        if group.first < len(known):
            continue
        made = slice(group.first, group.first + group.count)
        if isinstance(group, FormulaGroup):
            found[made] = found[group.origin] | (not stays_finite(group.formula))
        else:
            for read in (group.source, group.gate):
                if read is not None:
                    found[made] |= (found[read] & (read >= 0)).any(axis=1)
    tape.infinite = found
    return bool(np.any(found[signals[signals >= 0]]))
