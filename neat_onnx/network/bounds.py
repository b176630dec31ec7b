"""Bounds of formulas: the interval of an expression's values for any finite z, and their growth.

Both are shown by the formula's parts: a pole between two points of the line would not be seen at
any of them. Where a part may have a pole, or no value, nothing is known of its readers. Beside
them: whether a formula is finite for moderate numbers, and which sign it has there, both probed;
and whether it is a straight line.
"""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from neat_onnx.network.expression import VARIABLE, Expression, constant, parts_of

Interval = tuple[float, float]
_ALL: Interval = (-math.inf, math.inf)
_UNKNOWN: Interval = (math.nan, math.nan)
_RANGES: dict[str, Interval] = {
    "sigmoid": (0.0, 1.0),
    "tanh": (-1.0, 1.0),
    "sin": (-1.0, 1.0),
    "cos": (-1.0, 1.0),
    "sign": (-1.0, 1.0),
    "erf": (-1.0, 1.0),
    "atan": (-math.pi / 2, math.pi / 2),
    "softsign": (-1.0, 1.0),
    "cosh": _ALL,
    "sinh": _ALL,
    "tan": _ALL,
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
    if part.op == "mul" and args[0] == args[1]:
        return _square(inside[0])
    if part.op in _RULES:
        return _RULES[part.op](*inside)
    if part.op in _INCREASING:
        return _between_bounds(part, inside[0])
    return _RANGES.get(part.op, _UNKNOWN)


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
    if expression.op in _INCREASING:
        return degrees[0] * (0.5 if expression.op == "sqrt" else 1.0)
    return max(degrees) if expression.op in _AS_ARGUMENTS else math.inf


def _between_bounds(expression: Expression, inside: Interval) -> Interval:
    """The interval of an increasing function, where it has a value in all of an interval."""
    lowest = _INCREASING[expression.op]
    others = expression.args[1:]
    if inside[0] < lowest or any(not each.is_constant or each.value < 0.0 for each in others):
        return _UNKNOWN
    bounds = (expression.over([constant(bound), *others]) for bound in inside)
    with np.errstate(all="ignore"):
        low, high = (float(bound.evaluate(np.zeros(()))) for bound in bounds)
    return low, high


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0.0 or b == 0.0 else a * b


def _product(x: Interval, y: Interval) -> Interval:
    corners = [_times(a, b) for a in x for b in y]
    return min(corners), max(corners)


def _abs(x: Interval) -> Interval:
    low, high = sorted((abs(x[0]), abs(x[1])))
    return (0.0 if x[0] <= 0.0 <= x[1] else low), high


def _square(x: Interval) -> Interval:
    low, high = _abs(x)
    return _times(low, low), _times(high, high)


def _exp(x: Interval) -> Interval:
    return math.exp(min(x[0], 700.0)), math.exp(x[1]) if x[1] < 700.0 else math.inf


def _clip(x: Interval, low: Interval, high: Interval) -> Interval:
    return min(max(x[0], low[0]), high[0]), min(max(x[1], low[1]), high[1])


def _reciprocal(x: Interval) -> Interval:
    return _UNKNOWN if x[0] <= 0.0 <= x[1] else (1.0 / x[1], 1.0 / x[0])


def _quotient(x: Interval, y: Interval) -> Interval:
    return _UNKNOWN if y[0] <= 0.0 <= y[1] else _product(x, _reciprocal(y))


def _remainder(_: Interval, y: Interval) -> Interval:
    size = max(map(abs, y))
    return _UNKNOWN if y[0] <= 0.0 <= y[1] else (-size, size)


def _power(x: Interval, y: Interval) -> Interval:
    """Whole powers of any number, and others of positive ones."""
    exponent = y[0]
    if y[0] != y[1] or not ((exponent.is_integer() and exponent >= 0.0) or x[0] > 0.0):
        return _UNKNOWN
    with np.errstate(all="ignore"):
        low, high = np.sort(np.array(x) ** exponent).tolist()
    if x[0] < 0.0 < x[1]:
        return (0.0 if exponent % 2.0 == 0.0 else low), high
    return low, high


def _arc(low: float, high: float) -> Callable[[Interval], Interval]:
    return lambda x: (low, high) if x[0] >= -1.0 and x[1] <= 1.0 else _UNKNOWN


_RULES: dict[str, Callable[..., Interval]] = {
    "neg": lambda x: (-x[1], -x[0]),
    "add": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "sub": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "mul": _product,
    "div": _quotient,
    "reciprocal": _reciprocal,
    "mod": _remainder,
    "pow": _power,
    "abs": _abs,
    "exp": _exp,
    "relu": lambda x: (max(x[0], 0.0), max(x[1], 0.0)),
    "clip": _clip,
    "maximum": lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
    "minimum": lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    "asin": _arc(-math.pi / 2, math.pi / 2),
    "acos": _arc(0.0, math.pi),
    "where": lambda x, y: (min(x[0], y[0]), max(x[1], y[1])),
}
_SMALLEST = math.nextafter(0.0, 1.0)
_INCREASING = {
    **dict.fromkeys(
        ("asinh", "ceil", "elu", "floor", "leaky_relu", "round", "selu", "softplus"), -math.inf
    ),
    "log": _SMALLEST,
    "sqrt": 0.0,
}
"""Functions of their first argument that increase, no faster than it does where it is large, and
the lowest number that they have a value of.
"""
_AS_ARGUMENTS = frozenset({
    "abs", "add", "clip", "div", "maximum", "minimum", "neg", "relu", "sub", "where",
})  # fmt: skip
"""Operations that grow as their arguments do; of quotients that have a bound, as the dividend."""


ANY, NOT_NEGATIVE, POSITIVE = range(3)
_NUMBERS = {
    ANY: np.linspace(-50.0, 50.0, 401),
    NOT_NEGATIVE: np.linspace(0.0, 50.0, 201),
    POSITIVE: np.logspace(-12.0, 1.5, 201),
}
_LARGER = {
    ANY: np.linspace(-1000.0, 1000.0, 401),
    NOT_NEGATIVE: np.linspace(0.0, 1000.0, 201),
    POSITIVE: np.logspace(-12.0, 3.0, 201),
}
_MAX_FINITE = np.finfo(np.float32).max


@lru_cache(maxsize=512)
def stays_finite(formula: Expression, sign: int) -> bool:
    """Whether a formula is finite for all moderate numbers of a sign."""
    return bool(np.all(np.isfinite(formula.evaluate(_NUMBERS[sign]))))


@lru_cache(maxsize=512)
def may_overflow(formula: Expression, sign: int) -> bool:
    """Whether a formula of numbers of a sign exceeds float32 before they do, as exp does."""
    return not bool(np.all(np.abs(formula.evaluate(_LARGER[sign])) <= _MAX_FINITE))


@lru_cache(maxsize=512)
def sign_of(formula: Expression, sign: int) -> int:
    """The sign that a formula has for all moderate numbers of a sign."""
    found = np.asarray(formula.evaluate(_NUMBERS[sign]), np.float64)
    if np.all(found > 0.0):
        return POSITIVE
    return NOT_NEGATIVE if np.all(found >= 0.0) else ANY


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
