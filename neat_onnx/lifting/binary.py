"""Functions of two numbers: quotients, powers, extremes, comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from neat_onnx.lifting.pending import (
    Pending,
    aligned,
    as_neurons,
    broadcast_to,
    combined,
    concat,
    is_neurons,
    one_number,
    result_type,
    same_signals,
    stack,
    take,
)
from neat_onnx.lifting.sums import add, aggregated, apart, multiply, subtract
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    call,
    constant,
    equal,
    floor,
    greater,
    less,
    negated,
    number,
    reciprocal,
    sign,
)
from neat_onnx.network.genes import Floats

Some = TypeVar("Some", bound=Pending)
_FLOAT, _BOOL = np.dtype(np.float64), np.dtype(np.bool_)


def divide(a: Any, b: Any) -> Any:
    """a / b; of integers the quotient towards 0."""
    if not is_neurons(a, b):
        if np.result_type(a, b).kind in "iu":
            return np.trunc(np.divide(a, b)).astype(np.result_type(a, b))
        return np.divide(a, b)
    dtype = result_type(a, b)
    if dtype.kind in "iu":
        nudged = a
        if isinstance(b, Pending):  # times a rounded reciprocal: no whole number is just missed
            nudged = add(a, multiply(0.5, signs(a)))
        return truncated(quotient(nudged, b)).typed(dtype)
    if isinstance(b, Pending) or isinstance(one_number(b, a), float):
        return quotient(a, b)
    divisor = np.asarray(b, np.float64)
    if divisor.size > 1 and not a.tape.ids and np.all(divisor == divisor.flat[0]):
        shape = np.broadcast_shapes(a.shape, divisor.shape)
        return quotient(broadcast_to(a, shape), float(divisor.flat[0]))
    with np.errstate(divide="ignore"):
        found = multiply(a, 1.0 / divisor)
    if isinstance(found, Pending) and not found.tape.ids:  # else a mean, which the genome says
        found.exact = lambda: quotient(a, b)
    return found


def quotient(a: Any, b: Any) -> Any:
    """a / b rounded once, as it has to be before it is rounded to an integer."""
    if isinstance(b, Pending):
        found = _of_same_signals(a, b) if isinstance(a, Pending) else None
        return multiply(a, b.apply(reciprocal(VARIABLE))) if found is None else found
    divisor = one_number(b, a)
    shape = np.broadcast_shapes(a.shape, np.shape(b))
    a = broadcast_to(a, shape)
    if isinstance(divisor, float) and a.is_plain and a.formula == call("mul", divisor, VARIABLE):
        return a.of(a.ids, shift=a.shift / divisor, dtype=_FLOAT)
    if isinstance(divisor, float) and divisor and math.isfinite(divisor):
        return a.apply(call("div", VARIABLE, divisor), _FLOAT)
    divisors = np.broadcast_to(divisor, shape)
    return _by_number(lambda n, x: x.apply(call("div", VARIABLE, n), _FLOAT).plain(), divisors, a)


def _of_same_signals(a: Pending, b: Pending) -> Pending | None:
    a, b = aligned(a, b, np.broadcast_shapes(a.shape, b.shape))
    return combined("div", a, b, _FLOAT) if same_signals(a, b) else None


def signs(x: Any) -> Any:
    """-1, 0 or 1 of each element."""
    return x.apply(sign(VARIABLE), _FLOAT) if isinstance(x, Pending) else np.sign(x)


def truncated(x: Any) -> Any:
    """Round towards 0."""
    if not isinstance(x, Pending):
        return np.trunc(x)
    return x.apply(sign(VARIABLE) * floor(abs(VARIABLE)))


def power(a: Any, b: Any) -> Any:
    """a to the power b, of which one is numbers; of an integer rounded towards 0."""
    kind = a.dtype if isinstance(a, Pending) else np.asarray(a).dtype
    if kind.kind not in "iu":
        return _power(a, b)
    real = a.typed(_FLOAT) if isinstance(a, Pending) else np.asarray(a, np.float64)
    found = truncated(_power(real, b))
    return found.typed(kind) if isinstance(found, Pending) else found.astype(kind)


def _power(a: Any, b: Any) -> Any:
    if not is_neurons(a, b):
        return np.power(a, b)
    if not isinstance(b, Pending):
        exponent = one_number(b, a)
        if isinstance(exponent, float):
            if exponent == 1.0:
                return a
            square = VARIABLE * VARIABLE
            known = {2.0: square, 3.0: square * VARIABLE, -1.0: reciprocal(VARIABLE)}
            formula = known.get(exponent) or (
                call("sqrt", VARIABLE) if exponent == 0.5 else call("pow", VARIABLE, exponent)
            )
            return a.apply(formula)
        shape = np.broadcast_shapes(a.shape, exponent.shape)
        exponent = np.broadcast_to(exponent, shape)
        return _by_number(lambda n, x: power(x, n), exponent, broadcast_to(a, shape))
    if isinstance(a, Pending):
        raise ValueError("a power of which base and exponent depend on inputs is not supported")
    base = one_number(a, b)
    if isinstance(base, float):
        return b.apply(call("pow", constant(base), VARIABLE))
    shape = np.broadcast_shapes(base.shape, b.shape)
    return _by_number(power, np.broadcast_to(base, shape), broadcast_to(b, shape))


def _by_number(function: Callable[[Any, Any], Any], numbers: Floats, x: Pending) -> Any:
    """A function of a number and an element, for each different number."""
    flat, elements = numbers.ravel(), x.ravel()
    values, which = np.unique(flat, return_inverse=True)
    if len(values) > 64:
        raise ValueError(f"{len(values)} different numbers beside neurons, at most 64 can be")
    parts = [function(float(value), elements[which == k]) for k, value in enumerate(values)]
    order = np.argsort(np.argsort(which, kind="stable"), kind="stable")
    return take(concat(parts, 0), order, 0).reshape(x.shape)


def truth(formula: Expression) -> Expression:
    """Numbers 1 and 0 as truth values."""
    return formula.args[0] if formula.op == "number" else greater(formula, 0.0)


def negation(x: Some) -> Some:
    """1 where x is 0, else 0."""
    x = x.settled()
    formula = x.formula
    whole = number(negated(formula.args[0]) if formula.op == "number" else equal(formula, 0.0))
    shift = np.where(x.ids < 0, x.numbers() == 0.0, 0.0) if x.has_constants else 0.0
    return x.of(x.ids, whole, 1.0, shift, _BOOL)


def both(a: Any, b: Any) -> Any:
    """Whether both of two truth values hold."""
    alike = isinstance(a, Pending) and isinstance(b, Pending) and same_signals(a, b)
    if alike and not a.has_constants:
        formula = number(call("both", truth(a.formula), truth(b.formula)))
        return a.of(a.ids, formula, dtype=_BOOL)
    found = multiply(a, b)
    return found.typed(_BOOL) if isinstance(found, Pending) else found != 0


def compared(a: Pending, b: Any, relation: Callable[..., Expression]) -> Any:
    """A relation of neurons to numbers, or of their difference to 0."""
    shape = np.broadcast_shapes(a.shape, np.shape(b))
    against = b if isinstance(b, Pending) else one_number(b, a)
    if isinstance(against, np.ndarray) and not np.all(np.isfinite(against)):
        if np.any(against != against.flat[0]):
            raise ValueError("a comparison with different numbers, some infinite or NaN")
        against = float(against.flat[0])
    if isinstance(against, float):
        return broadcast_to(a, shape).apply(number(_beside(relation, against)), _BOOL)
    if isinstance(b, Pending):
        one, other = aligned(a, b, shape)
        if same_signals(one, other) and not one.has_constants:
            found = number(relation(one.formula, other.formula))
            return a.of(one.ids, found, 1.0, 0.0, _BOOL)
        a, b = apart(a), apart(b)  # their difference is 0 only if no sum is added in another order
    return subtract(a, b).apply(number(relation(VARIABLE, 0.0)), _BOOL)


def _beside(relation: Callable[..., Expression], value: float) -> Expression:
    """A relation of z to a number; an infinity or NaN is no constant of a formula."""
    if math.isfinite(value):
        return relation(VARIABLE, value)
    never = less(abs(VARIABLE), 0.0)
    if math.isnan(value):
        return never
    equals = relation(constant(0.0), constant(0.0)).evaluate(np.zeros(1)).item()
    beyond = relation(constant(0.0), constant(math.copysign(1.0, value)))
    others = beyond.evaluate(np.zeros(1)).item()
    side = greater(VARIABLE, 0.0) if value > 0 else negated(greater(VARIABLE, 0.0))
    same = call("both", call("is_infinite", VARIABLE), side)
    if equals == others:
        return negated(never) if equals else never
    return same if equals else negated(same)


def maximum(a: Any, b: Any) -> Any:
    """The larger of each two elements."""
    return _extreme("max", "maximum", np.maximum, a, b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of each two elements."""
    return _extreme("min", "minimum", np.minimum, a, b)


def _extreme(name: str, op: str, of_numbers: Any, a: Any, b: Any) -> Any:
    if not is_neurons(a, b):
        return of_numbers(a, b)
    if not isinstance(a, Pending):
        a, b = b, a
    dtype, shape = result_type(a, b), np.broadcast_shapes(a.shape, np.shape(b))
    against = b if isinstance(b, Pending) else one_number(b, a)
    if isinstance(against, float):
        if math.isinf(against) and (against < 0) == (name == "max"):
            return broadcast_to(a, shape)
        relu = call("relu", VARIABLE)
        formula = relu if (name, against) == ("max", 0.0) else call(op, VARIABLE, against)
        return broadcast_to(a, shape).apply(formula)
    one, other = aligned(a, as_neurons(b, a), shape)
    if same_signals(one, other):
        found = combined(op, one, other, dtype)
        if found is not None:
            return found
    return aggregated(stack([one, other], axis=-1), name, -1).typed(dtype)
