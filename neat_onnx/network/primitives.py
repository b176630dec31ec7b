"""The primitives that formulas are made of: the function and the operands of each.

A primitive's signature has a letter for each argument: `n` a number, `t` a truth value, `c` a
number that is a constant, `v` numbers along a last axis (in aggregations only).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_erf = np.frompyfunc(math.erf, 1, 1)


def _sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def _softplus(x: Array) -> Array:
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def _elu(x: Array, alpha: float) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0)))


def _selu(x: Array, alpha: float, gamma: float) -> Array:
    return gamma * _elu(x, alpha)


def _error_function(x: Array) -> Array:
    return np.asarray(_erf(x), np.result_type(x))


_ELEMENTWISE: dict[str, tuple[str, Callable[..., Any]]] = {
    "add": ("nn", np.add),
    "sub": ("nn", np.subtract),
    "mul": ("nn", np.multiply),
    "div": ("nn", np.divide),
    "neg": ("n", np.negative),
    "abs": ("n", np.abs),
    "sqrt": ("n", np.sqrt),
    "exp": ("n", np.exp),
    "log": ("n", np.log),
    "sin": ("n", np.sin),
    "tanh": ("n", np.tanh),
    "reciprocal": ("n", np.reciprocal),
    "sigmoid": ("n", _sigmoid),
    "relu": ("n", lambda x: np.maximum(x, 0.0)),
    "softplus": ("n", _softplus),
    "softsign": ("n", lambda x: x / (1.0 + np.abs(x))),
    "elu": ("nc", _elu),
    "selu": ("ncc", _selu),
    "leaky_relu": ("nc", lambda x, slope: np.where(x < 0, slope * x, x)),
    "clip": ("ncc", lambda x, low, high: np.minimum(np.maximum(x, low), high)),
    "cos": ("n", np.cos),
    "tan": ("n", np.tan),
    "asin": ("n", np.arcsin),
    "acos": ("n", np.arccos),
    "atan": ("n", np.arctan),
    "sinh": ("n", np.sinh),
    "cosh": ("n", np.cosh),
    "asinh": ("n", np.arcsinh),
    "acosh": ("n", np.arccosh),
    "atanh": ("n", np.arctanh),
    "erf": ("n", _error_function),
    "sign": ("n", np.sign),
    "floor": ("n", np.floor),
    "ceil": ("n", np.ceil),
    "round": ("n", np.rint),  # halves to even
    "pow": ("nn", np.power),
    "mod": ("nn", np.fmod),  # with the sign of what is divided
    "maximum": ("nn", np.maximum),
    "minimum": ("nn", np.minimum),
    "number": ("t", lambda truth: np.where(truth, 1.0, 0.0)),  # a truth value as 1 or 0
    "where": ("tnn", np.where),
}
_TRUTHS: dict[str, tuple[str, Callable[..., Any]]] = {
    "greater": ("nn", np.greater),
    "greater_or_equal": ("nn", np.greater_equal),
    "less": ("nn", np.less),
    "less_or_equal": ("nn", np.less_equal),
    "equal": ("nn", np.equal),
    "both": ("tt", np.logical_and),
    "either": ("tt", np.logical_or),
    "one_of": ("tt", np.logical_xor),
    "negated": ("t", np.logical_not),
    "is_nan": ("n", np.isnan),
    "is_infinite": ("n", np.isinf),
}
_LAST_AXIS: dict[str, tuple[str, Callable[..., Any]]] = {
    "total": ("v", lambda v: np.sum(v, axis=-1)),
    "product": ("v", lambda v: np.prod(v, axis=-1)),
    "largest": ("v", lambda v: np.max(v, axis=-1)),
    "smallest": ("v", lambda v: np.min(v, axis=-1)),
    # along the last axis, which stays
    "where_largest": (
        "v",
        lambda v: np.argmax(v, axis=-1, keepdims=True),
    ),  # the first, on ties
    "pick": ("vv", lambda v, index: np.take_along_axis(v, index, axis=-1)),
    "lowest": ("vc", lambda v, count: np.sort(v, axis=-1)[..., : int(count)]),
}
_ALL = _ELEMENTWISE | _TRUTHS | _LAST_AXIS

PRIMITIVES = {name: function for name, (_, function) in _ALL.items()}
SIGNATURES = {name: signature for name, (signature, _) in _ALL.items()}
TRUTHS = frozenset(_TRUTHS)
REDUCING = frozenset(_LAST_AXIS)
