"""The probability of the first of two labels, as onnxruntime finds it by pairwise coupling.

Pairwise coupling (Wu, Lin and Weng, 2004) minimizes a quadratic form by sweeps over the labels, and
onnxruntime stops before a sweep once no gradient exceeds 0.005 / labels. Two labels need two sweeps
at most, whatever the probability a of their pair: the result of each is a rational function of a,
and so is the gradient. With b = 1 - a, t = b - a and k = 2(1 + t)t⁴ / (1 - t³)(1 + t²) they are,
without anything that cancels:

    before the first sweep    1/2                  gradient |t| / 4
    after one                 p = a / (1 + bk)     gradient (a - p) · max(p, 1 - p)
    after two                 a / (1 + (abk²)² / ((1 + k)(1 + bk) + ak²)((1 + k)(1 + bk) + a²k²))

Twice of each has fewer operations: of 2a, 2b and k/2.
"""

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand
from neat_onnx.model import Node
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    clip,
    less,
    maximum,
    power,
    tanh,
    where,
)
from neat_onnx.operators.algebra import Algebra
from neat_onnx.operators.formulas.formula import formula_of

_MAX_HALF_LOG_ODDS = float(
    np.float32(np.arctanh(1.0 - 2e-7))
)  # probabilities of the pair are 1e-7 or more
GAP = tanh(clip(VARIABLE, -_MAX_HALF_LOG_ODDS, _MAX_HALF_LOG_ODDS))
"""The difference of both probabilities of the pair, of half the log odds of the second."""
_NEAR_ENOUGH: float = np.float32(4.0 * 0.005 / 2).item()  # of twice a, and twice p


def coupled_twice(ctx: LiftingContext, node: Node, half: Operand) -> Operand:
    """Twice the probability of the first of two labels, of half the log odds of the second."""
    gap = formula_of(ctx, half, GAP)
    return formula_of(ctx, Algebra(ctx, node).activations(gap), _by_sweeps())


def _by_sweeps() -> Expression:
    """Twice the probability after the last sweep, of t."""
    t = VARIABLE
    square = power(t, 2.0)
    a, b = 1.0 - t, 1.0 + t
    k = b * power(square, 2.0) / ((1.0 - t * square) * (1.0 + square))
    divisor = 1.0 + b * k
    once = a / divisor
    product, others = a * power(k, 2.0), (1.0 + 2.0 * k) * divisor
    divisors = (others + 2.0 * product) * (others + a * product)
    twice = a / (1.0 + power(b * product, 2.0) / divisors)
    gradient = (a - once) * maximum(once, 2.0 - once)
    later = where(less(gradient, _NEAR_ENOUGH), once, twice)
    return where(less(abs(t), _NEAR_ENOUGH), 1.0, later)
