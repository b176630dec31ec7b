"""The probability of the first of two labels, as onnxruntime finds it by pairwise coupling.

Pairwise coupling (Wu, Lin and Weng, 2004) minimizes a quadratic form by sweeps over the labels, and
onnxruntime stops before a sweep once no gradient exceeds 0.005 / labels. Two labels need two sweeps
at most, whatever the probability a of their pair: the result of each is a rational function of a,
and so is the gradient. With b = 1 - a, t = b - a and k = 2(1 + t)t⁴ / (1 - t³)(1 + t²) they are,
without anything that cancels:

    before the first sweep    1/2                  gradient |t| / 4
    after one                 p = a / (1 + bk)     gradient (a - p) · max(p, 1 - p)
    after two                 a / (1 + (abk²)² / (1 + (1 + b)k + k²)(1 + (1 + b)k + (1 - ab)k²))
"""

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand
from neat_onnx.model import Node
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    clip,
    less,
    power,
    tanh,
    where,
)
from neat_onnx.operators.algebra import Algebra
from neat_onnx.operators.formulas.formula import formula_of

_MOST = float(np.float32(np.arctanh(1.0 - 2e-7)))  # probabilities of the pair are 1e-7 or more
_NEAR_ENOUGH: float = np.float32(0.005 / 2).item()
_NEAR: float = np.float32(4.0 * 0.005 / 2).item()


def coupled(ctx: LiftingContext, node: Node, odds: Operand) -> Operand:
    """The probability of the first of two labels, of the log odds of the second."""
    gap = formula_of(ctx, odds, tanh(clip(0.5 * VARIABLE, -_MOST, _MOST)))
    return formula_of(ctx, Algebra(ctx, node).activations(gap), _by_sweeps())


def _by_sweeps() -> Expression:
    """The probability after the last sweep, of t."""
    t = VARIABLE
    square = power(t, 2.0)
    a, b = 0.5 - 0.5 * t, 0.5 + 0.5 * t
    k = (4.0 * b * power(square, 2.0)) / ((1.0 - t * square) * (1.0 + square))
    once = a / (1.0 + b * k)
    linear, k_square, both = 1.0 + (1.0 + b) * k, power(k, 2.0), a * b
    divisors = (linear + k_square) * (linear + (1.0 - both) * k_square)
    twice = a / (1.0 + power(both * k_square, 2.0) / divisors)
    gradient = (a - once) * (0.5 + abs(once - 0.5))
    later = where(less(gradient, _NEAR_ENOUGH), once, twice)
    return where(less(abs(t), _NEAR), 0.5, later)
