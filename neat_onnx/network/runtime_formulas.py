"""Formulas in primitives that runtimes have kernels for.

ONNX Runtime computes many functions in float32 only. In float64 they are written out in others,
to within a few units in the last place of 1. An operator's attributes would be float32 as well.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from neat_onnx.network.expression import (
    Expression,
    clip,
    cos,
    exp,
    greater,
    log,
    reciprocal,
    relu,
    sign,
    sin,
    sqrt,
    where,
)


def writable(
    formula: Expression, dtype: np.dtype[Any], *, far_from_zero: bool = False
) -> Expression:
    """The formula in primitives that runtimes have kernels for in numbers of this type.

    With `far_from_zero` its digits far from 0 count: ONNX Runtime's sigmoid of float64 is 0 below
    -37, where it should be e^x. Only values that grow without bound can make it count.
    """
    if dtype != np.float64:
        return formula
    return _written(formula, _FLOAT64_TAILS if far_from_zero else _FLOAT64)


def writings(formula: Expression, dtype: np.dtype[Any]) -> tuple[Expression, ...]:
    """The formula in all ways in which our files have it: that of `writable` is the last one."""
    return writable(formula, dtype, far_from_zero=True), writable(formula, dtype)


def _written(formula: Expression, rules: Mapping[str, Callable[..., Expression]]) -> Expression:
    args = tuple(_written(arg, rules) for arg in formula.args)
    if formula.op in rules:
        return rules[formula.op](*args)
    return formula.over(args)


def _softplus(x: Expression) -> Expression:
    """max(x, 0) + ln(1 + u), u = e^-|x|: the rounding of w = 1 + u is taken back to first order.

    So e^x is left where x is far below zero and w is 1, as log1p has it: a gate that is large can
    make it count.
    """
    u = exp(-abs(x))
    w = 1.0 + u
    return relu(x) + (log(w) - ((w - 1.0) - u) / w)


def _elu(x: Expression, alpha: Expression) -> Expression:
    below = exp(x) - 1.0
    return where(greater(x, 0.0), x, below if alpha.value == 1.0 else alpha * below)


def _half_angle(x: Expression) -> Expression:
    """tan(α/2) for x = tan(α)."""
    return x / (1.0 + sqrt(1.0 + x * x))


_HALVED = 8.0  # three half angles
_MAX_TANGENT = 1e17  # beyond it the arc tangent is π/2 in float64
_LAST_POWER = 21


def _atan(x: Expression) -> Expression:
    """The Taylor series where it converges fast: |tan| of an eighth of the angle is below 0.2."""
    y = _half_angle(_half_angle(_half_angle(clip(x, -_MAX_TANGENT, _MAX_TANGENT))))
    series: Expression | float = 1.0 / _LAST_POWER
    for power in range(_LAST_POWER - 2, 0, -2):
        series = 1.0 / power - (y * y) * series
    return _HALVED * (y * series)


def _asin(x: Expression) -> Expression:
    return 2.0 * _atan(x / (1.0 + sqrt(1.0 - x * x)))


_RIGHT_ANGLE = 1.5707963267948966
_LN2 = 0.6931471805599453
_SQUARE_OVERFLOWS = 1e8  # long before it does, x² + 1 is x²


def _asinh(x: Expression) -> Expression:
    size = abs(x)
    near = log(size + sqrt(1.0 + size * size))
    return sign(x) * where(greater(size, _SQUARE_OVERFLOWS), _LN2 + log(size), near)


_ERF = (
    -0.6717940840566928, 0.6726432239776594, 0.0473433068418814, -0.04689561023128251,
    -0.009872689363397755, 0.008824938560574652, 0.0017589334923017793, -0.002345812557809579,
    -0.00014624617423188664, 0.0006736792695029219, -9.373937253815677e-05,
    -0.00017430507640991727, 7.141890183824271e-05, 3.175035717548386e-05,
    -3.023815830580029e-05, 1.3259897584133622e-07, 8.660757772346421e-06,
    -2.953942141269264e-06, -1.4053697792523837e-06, 1.2758557165632096e-06,
    -4.555433205213269e-08, -2.862561216493477e-07, 7.951020525177291e-08,
    2.9186482507003514e-08, -1.3197043863744917e-08,
)  # fmt: skip
"""Chebyshev fit of degree 24 to log(erfc(a) / t) + a² for t = 2 / (2 + a), as powers of 2t - 1."""


def _erf(x: Expression) -> Expression:
    """1 - t·exp(p(2t - 1) - a²) with the sign of x, for a = |x|: within 2e-15."""
    size = abs(x)
    t = reciprocal(1.0 + 0.5 * size)
    u = 2.0 * t - 1.0
    series: Expression | float = _ERF[-1]
    for coefficient in _ERF[-2::-1]:
        series = coefficient + u * series
    return sign(x) * (1.0 - t * exp(series - size * size))


_FLOAT64: dict[str, Callable[..., Expression]] = {
    "softplus": _softplus,
    "softsign": lambda x: x / (1.0 + abs(x)),
    "elu": _elu,
    "selu": lambda x, alpha, gamma: gamma.value * _elu(x, alpha),
    "leaky_relu": lambda x, slope: where(greater(x, 0.0), x, slope.value * x),
    "tan": lambda x: sin(x) / cos(x),
    "asin": _asin,
    "acos": lambda x: _RIGHT_ANGLE - _asin(x),
    "atan": _atan,
    "sinh": lambda x: 0.5 * (exp(x) - exp(-x)),
    "cosh": lambda x: 0.5 * (exp(x) + exp(-x)),
    "asinh": _asinh,
    "acosh": lambda x: log(x + sqrt(x - 1.0) * sqrt(x + 1.0)),
    "atanh": lambda x: 0.5 * log((1.0 + x) / (1.0 - x)),
    "erf": _erf,
}

_FLOAT64_TAILS = _FLOAT64 | {"sigmoid": lambda x: reciprocal(1.0 + exp(-x))}
