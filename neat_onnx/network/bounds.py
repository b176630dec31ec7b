"""Bounds of formulas: the interval of an expression's values for any finite z, and their growth.

Both are shown by the formula's parts: a pole between two points of the line would not be seen at
any of them. Where a part may have a pole, or no value, nothing is known of its readers. Beside
them: whether a formula is finite for moderate numbers, which is probed; and whether it is a
straight line.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from itertools import product

import numpy as np

from neat_onnx.network.expression import PRIMITIVES, VARIABLE, Expression, parts_of

Interval = tuple[float, float]
_ALL: Interval = (-math.inf, math.inf)
_UNKNOWN: Interval = (math.nan, math.nan)
_RANGES: dict[str, Interval] = {
    "sin": (-1.0, 1.0),
    "cos": (-1.0, 1.0),
    "softsign": (-1.0, 1.0),
    "cosh": _ALL,
    "tan": _ALL,
}
"""Ranges of functions that are not monotone, or whose limits are ∞ / ∞."""
_GROWING = frozenset({
    "asinh", "ceil", "elu", "floor", "leaky_relu", "log", "round", "selu", "softplus", "sqrt",
})  # fmt: skip
"""Functions of their first argument that increase, no faster than it does where it is large."""
_AS_ARGUMENTS = frozenset({
    "abs", "add", "clip", "div", "maximum", "minimum", "neg", "relu", "sub", "where",
})  # fmt: skip
"""Operations that grow as their arguments do; of quotients that have a bound, as the dividend."""
_MONOTONE = _GROWING | _AS_ARGUMENTS | frozenset({
    "acos", "asin", "atan", "erf", "exp", "mul", "pow", "reciprocal", "sigmoid", "sign", "sinh",
    "tanh",
})  # fmt: skip
"""Operations that take their extremes at ends of their arguments' intervals, or for the argument 0:
products, for instance, which are linear in each factor.
"""
_DOMAINS: dict[str, Interval] = {
    "log": (math.nextafter(0.0, 1.0), math.inf),
    "sqrt": (0.0, math.inf),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
}


def interval_of(expression: Expression) -> Interval:
    """Return (low, high) such that low ≤ value ≤ high.

    They are infinite where nothing better is known, and NaN where there may be a pole or no value.
    """
    found: dict[Expression, Interval] = {}
    for part in parts_of(expression):
        found[part] = _interval(part, found)
    return found[expression]


def _interval(part: Expression, known: Mapping[Expression, Interval]) -> Interval:
    """The interval of a part, by the intervals of its own parts."""
    if part.op == "variable":
        return _ALL
    if part.is_constant:
        return part.value, part.value
    if part.is_truth or part.op == "number":
        return 0.0, 1.0
    args = part.args[1:] if part.op == "where" else part.args
    inside = [known[arg] for arg in args]
    if any(map(math.isnan, (bound for interval in inside for bound in interval))):
        return _UNKNOWN
    if part.op == "where":
        return min(low for low, _ in inside), max(high for _, high in inside)
    if part.op not in _MONOTONE:
        return _RANGES.get(part.op, _UNKNOWN)
    if not _has_values(part, inside):
        return _UNKNOWN
    least, most = inside[0]
    ends = [(least, most, 0.0) if least < 0.0 < most else (least, most), *inside[1:]]
    corners = np.array([*product(*ends)]).T
    if part.op == "mul" and args[0] == args[1]:
        corners[1] = corners[0]  # a square
    with np.errstate(all="ignore"):
        values = PRIMITIVES[part.op](*corners)
    values = np.nan_to_num(values, nan=0.0, posinf=math.inf, neginf=-math.inf)  # 0 · ∞, ∞ − ∞
    return float(np.min(values)), float(np.max(values))


def _has_values(part: Expression, inside: list[Interval]) -> bool:
    """Whether a monotone operation has a value, and no pole, in intervals of its arguments."""
    (low, high), *others = inside
    if part.op in ("reciprocal", "div"):
        least, most = inside[-1]
        return not least <= 0.0 <= most
    if part.op == "pow":  # whole powers of any number, and others of positive ones
        exponent = others[0][0]
        whole = exponent.is_integer() and exponent >= 0.0
        return others[0] == (exponent, exponent) and (whole or low > 0.0)
    if part.op in ("elu", "selu", "leaky_relu"):
        return all(each.is_constant and each.value >= 0.0 for each in part.args[1:])
    least, most = _DOMAINS.get(part.op, _ALL)
    return least <= low and high <= most


def degree_of(expression: Expression) -> float:
    """Return a power p such that |value| ≤ c · (1 + |z|)^p for any finite z; ∞ if none is known."""
    interval = interval_of(expression)
    if expression.is_constant or all(map(math.isfinite, interval)):
        return 0.0
    if any(map(math.isnan, interval)):
        return math.inf
    if expression.op == "variable":
        return 1.0
    degrees = [degree_of(arg) for arg in expression.args if not arg.is_truth]
    if expression.op == "mul":
        return sum(degrees)
    if expression.op in _GROWING:
        return degrees[0] * (0.5 if expression.op == "sqrt" else 1.0)
    return max(degrees) if expression.op in _AS_ARGUMENTS else math.inf


_MODERATE = np.concatenate([np.linspace(-50.0, 50.0, 401), np.linspace(-1000.0, 1000.0, 401)])
_MAX_FINITE = np.finfo(np.float32).max


@lru_cache(maxsize=512)
def stays_finite(formula: Expression) -> bool:
    """Whether float32 has a number for a formula of any moderate one: not for an exponential."""
    return bool(np.all(np.abs(formula.evaluate(_MODERATE)) <= _MAX_FINITE))


Line = tuple[float, float]
"""(c, b) of c · z + b."""


def line_of(formula: Expression) -> Line | None:
    """Return (c, b) where the formula is c · z + b, written with sums, products and quotients.

    Args:
        formula: a formula of z.

    Returns:
        None where it is anything else.
    """
    if formula == VARIABLE:
        return 1.0, 0.0
    if formula.is_constant:
        return 0.0, formula.value
    lines = [line_of(part) for part in formula.args]
    if formula.op == "neg" and lines[0] is not None:
        return -lines[0][0], -lines[0][1]
    if len(lines) != 2 or lines[0] is None or lines[1] is None:
        return None
    (slope, shift), (other_slope, other_shift) = lines[0], lines[1]
    if formula.op in ("add", "sub"):
        sign = 1.0 if formula.op == "add" else -1.0
        return slope + sign * other_slope, shift + sign * other_shift
    if formula.op == "mul" and 0.0 in (slope, other_slope):
        return slope * other_shift + other_slope * shift, shift * other_shift
    if formula.op == "div" and other_slope == 0.0 and other_shift != 0.0:
        return slope / other_shift, shift / other_shift
    return None


def without_lines(formula: Expression, lines: dict[Line, None]) -> Expression:
    """The formula with its variable for each straight line in it, all of which go into `lines`."""
    line = line_of(formula)
    if line is not None and line[0] != 0.0:
        lines[line] = None
        return VARIABLE
    return formula.over([without_lines(each, lines) for each in formula.args])
