"""Choices, whatever the branch is that is not taken.

A signal that may be infinite or NaN for moderate inputs, as quotients and logarithms are, is kept
out where it is not taken: 0 · infinity is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
from neat_onnx.lifting.tape import FormulaGroup, NeuronGroup, Tape
from neat_onnx.network.bounds import (
    ANY,
    NOT_NEGATIVE,
    POSITIVE,
    may_overflow,
    sign_of,
    stays_finite,
)
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
    dtype = result_type(*(x for x in (a, b))) if is_neurons(a, b) else np.result_type(a, b)
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
    if stays_finite(x.formula, ANY) and not may_overflow(x.formula, ANY):
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
    """Whether one of these signals may be infinite or NaN."""
    tape.finiteness = tape.finiteness or Finiteness()
    tape.finiteness.follow(tape)
    return bool(np.any(tape.finiteness.infinite[signals[signals >= 0]]))


@dataclass(eq=False)
class Finiteness:
    """What is known of the signals of a tape, as far as it has been read.

    Attributes:
        infinite: whether each signal may be.
        sign: of each, as `domains` has it.
        largest: whether each is the largest of others.
        below: whether the largest of others is taken off it, as in a softmax.
    """

    infinite: Ints = field(default_factory=lambda: np.empty(0, bool))
    sign: Ints = field(default_factory=lambda: np.empty(0, np.int8))
    largest: Ints = field(default_factory=lambda: np.empty(0, bool))
    below: Ints = field(default_factory=lambda: np.empty(0, bool))
    _read: int = 0

    def follow(self, tape: Tape) -> None:
        """Read what the tape has made since."""
        more = tape.count - len(self.infinite)
        for name in ("infinite", "largest", "below"):
            setattr(self, name, np.concatenate([getattr(self, name), np.zeros(more, bool)]))
        self.sign = np.concatenate([self.sign, np.full(more, ANY, np.int8)])
        for group in tape.groups[self._read :]:
            made = slice(group.first, group.first + group.count)
            if isinstance(group, FormulaGroup):
                for sign in (ANY, NOT_NEGATIVE, POSITIVE):
                    at = np.flatnonzero(self.sign[group.origin] == sign)
                    if at.size:
                        self.sign[group.first + at] = sign_of(group.formula, sign)
                        self.infinite[group.first + at] = not stays_finite(group.formula, sign)
                        if may_overflow(group.formula, sign):
                            self.infinite[group.first + at] |= ~self.below[group.origin[at]]
                self.infinite[made] |= self.infinite[group.origin]
            else:
                self._sums(group, made)
        self._read = len(tape.groups)

    def _sums(self, group: NeuronGroup, made: slice) -> None:
        if group.source is None or not group.source.shape[1]:
            self.sign[made] = np.where(np.broadcast_to(group.bias, group.count) > 0, POSITIVE, ANY)
            return
        source, live = group.source, group.source >= 0
        self.largest[made] = group.aggregation == "max"
        if group.weight is not None and group.gate is None:
            self.below[made] = (live & (group.weight < 0) & self.largest[source]).any(axis=1)
        infinite, signs = self.infinite[source] & live, self.sign[source]
        if group.gate is not None:
            gated = group.gate >= 0
            infinite |= self.infinite[group.gate] & gated
            signs = np.minimum(signs, np.where(gated, self.sign[group.gate], POSITIVE))
            squares = gated & (group.gate == source)
            signs = np.where(squares, np.maximum(signs, NOT_NEGATIVE), signs)
        weight = 1.0 if group.weight is None else group.weight
        signs = np.where(live & (np.asarray(weight) > 0), signs, np.where(live, ANY, NOT_NEGATIVE))
        self.infinite[made] = infinite.any(axis=1)
        least, most = signs.min(axis=1), signs.max(axis=1)
        bias = np.broadcast_to(group.bias, group.count)
        positive = (
            (most == POSITIVE) | (bias > 0) if group.aggregation == "sum" else least == POSITIVE
        )
        known = (least >= NOT_NEGATIVE) & (bias >= 0)
        self.sign[made] = np.where(known, np.where(positive, POSITIVE, NOT_NEGATIVE), ANY)
