"""Quotients and other results of integers, which ONNX gives as integers again.

A network divides by the reciprocal of the divisor, so that 49 / 49 may be just below 1. Half a unit
more of the dividend takes a quotient away from the whole numbers: of integers up to 2^22 each one
is exact in float32, and in float64 up to 2^51.
"""

import math

import numpy as np

from neat_onnx.errors import warn
from neat_onnx.lifting.context import MATERIALIZED, LiftingContext, Operand, Value
from neat_onnx.model import Node
from neat_onnx.network.bounds import interval_of
from neat_onnx.network.expression import VARIABLE, Expression, constant, floor, sign
from neat_onnx.operators.formulas.choice import applied
from neat_onnx.operators.formulas.formula import formula_of

_HALF = 0.5
_WHOLE = ("sign", "floor", "ceil", "round")
_STAY_WHOLE = ("abs", "neg", "add", "sub", "mul", "minimum", "maximum", "clip")


def truncated_quotient(
    ctx: LiftingContext, node: Node, dividend: Operand, divisor: Operand
) -> Operand:
    """The quotient of integers, rounded towards zero."""
    size = _size(divisor)
    if size is not None:
        quotient = applied(ctx, node, "div", [dividend, divisor])
        return formula_of(ctx, quotient, towards_zero(_share(size)))
    more = formula_of(ctx, dividend, abs(VARIABLE) + _HALF)
    quotient = applied(ctx, node, "div", [more, formula_of(ctx, divisor, abs(VARIABLE))])
    signs = [formula_of(ctx, each, sign(VARIABLE)) for each in (dividend, divisor)]
    whole = formula_of(ctx, quotient, floor(VARIABLE))
    return applied(ctx, node, "mul", [whole, applied(ctx, node, "mul", signs)])


def floored_quotient(
    ctx: LiftingContext, node: Node, dividend: Operand, divisor: Operand
) -> Operand:
    """The quotient of integers, rounded down."""
    size = _size(divisor)
    if size is None:
        half = formula_of(ctx, divisor, sign(VARIABLE) * _HALF)
        dividend = applied(ctx, node, "add", [dividend, half])
    quotient = applied(ctx, node, "div", [dividend, divisor])
    return formula_of(ctx, quotient, floor(_more(VARIABLE, 0.0 if size is None else _share(size))))


def truncated(ctx: LiftingContext, node: Node, result: Operand, count: int = 1) -> Operand:
    """A result as the integer that a node gives where its output is of integers.

    Args:
        count: of how many integers it is the mean.
    """
    if node.output[0] not in ctx.integer:
        return result
    return formula_of(ctx, result, towards_zero(_share(count)))


def towards_zero(share: float = 0.0) -> Expression:
    """z, or z with `share` more of its size, rounded towards zero: how numbers become integers.

    The size is written by the sign: import takes an Abs, which has a name, for a neuron.
    """
    size = sign(VARIABLE) * VARIABLE
    return sign(VARIABLE) * floor(_more(size, share))


def is_whole(formula: Expression) -> bool:
    """Whether a formula gives integers, whatever numbers it is given."""
    if formula.op == "constant":
        return formula.value.is_integer() or math.isinf(formula.value)
    whole = formula.op in _STAY_WHOLE and all(map(is_whole, {*formula.args}))
    return whole or formula.op in _WHOLE


def range_of(ctx: LiftingContext, value: Value) -> tuple[float, float]:
    """The least and the largest number that a value can be, NaN where nothing is known.

    They are shown by its formula, and by the ones of the activations that it is a formula of.
    """
    kind = ctx.kind[value.signals]
    if value.reduced or value.gate is not None or not np.all(kind == MATERIALIZED):
        return interval_of(value.formula)
    formulas = list(ctx.formulas)
    made, weights = ctx.formula_of[value.signals].ravel(), value.weights.ravel()
    ends = np.array(
        [
            interval_of(value.formula.substitute(weight * formulas[number]))
            for number, weight in set(zip(made.tolist(), weights.tolist(), strict=True))
        ]
    )
    return float(ends[:, 0].min()), float(ends[:, 1].max())


def warn_of_no_number(ctx: LiftingContext, node: Node, value: Value) -> None:
    """Warn where an integer may be made of a value that is infinite or no number."""
    if not all(map(math.isnan, range_of(ctx, value))):
        return
    warn(
        f"node {node.label} may read a value that is infinite or no number: the network gives none "
        "then, and runtimes the integers that their machines make of it"
    )


def _more(formula: Expression, share: float) -> Expression:
    return formula + constant(share) if share else formula


def _size(divisor: Operand) -> float | None:
    """The absolute value of a divisor that is constant and the same for all elements."""
    if isinstance(divisor, Value):
        return None
    sizes = np.unique(np.abs(divisor))
    return float(sizes[0]) if len(sizes) == 1 and sizes[0] else None


def _share(size: float) -> float:
    """Half a unit of the dividend, as a part of the divisor; 0 where its reciprocal is exact."""
    return 0.0 if math.frexp(size)[0] == _HALF else _HALF / size
