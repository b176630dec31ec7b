"""Bounds of formulas: the interval that an expression's values lie in, whatever its variable is."""

import math
from collections.abc import Callable

from neat_onnx.network.expression import Expression

Interval = tuple[float, float]
_ALL: Interval = (-math.inf, math.inf)
_RANGES: dict[str, Interval] = {
    "sigmoid": (0.0, 1.0),
    "tanh": (-1.0, 1.0),
    "sin": (-1.0, 1.0),
    "cos": (-1.0, 1.0),
    "sign": (-1.0, 1.0),
    "erf": (-1.0, 1.0),
    "atan": (-math.pi / 2, math.pi / 2),
    "softsign": (-1.0, 1.0),
    "number": (0.0, 1.0),
    "softplus": (0.0, math.inf),
    "sqrt": (0.0, math.inf),
}


def interval_of(expression: Expression) -> Interval:
    """Return (low, high) such that low ≤ value ≤ high; infinite where nothing better is known."""
    if expression.is_constant:
        return expression.value, expression.value
    args = expression.args
    if expression.op == "mul" and args[0] == args[1]:
        return _square(interval_of(args[0]))
    if expression.op in _RULES:
        return _RULES[expression.op](*(interval_of(arg) for arg in args))
    return _RANGES.get(expression.op, _ALL)


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


_RULES: dict[str, Callable[..., Interval]] = {
    "neg": lambda x: (-x[1], -x[0]),
    "add": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "sub": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "mul": _product,
    "abs": _abs,
    "exp": _exp,
    "relu": lambda x: (max(x[0], 0.0), max(x[1], 0.0)),
    "clip": _clip,
    "where": lambda _, x, y: (min(x[0], y[0]), max(x[1], y[1])),
}
