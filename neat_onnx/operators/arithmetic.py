"""Operators between numbers, element by element."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from neat_onnx.lifting.neurons import (
    Neurons,
    Tensor,
    add,
    copied,
    divide,
    floor,
    is_neurons,
    maximum,
    minimum,
    multiply,
    power,
    quotient,
    signs,
    truncated,
)
from neat_onnx.lifting.operator import axis_within, operator, refuse


def _aligned(a: Tensor, b: Tensor, broadcast: int, axis: int | None) -> Tensor:
    """The second operand where opsets before 7 have it: from `axis` of the first one on."""
    if not broadcast or axis is None or b.ndim == 0:
        return b
    after = a.ndim - axis_within(axis, a.ndim) - b.ndim
    return b.reshape(*b.shape, *(1,) * after)


def _pairwise(name: str, function: Callable[[Any, Any], Any]) -> None:
    @operator(name)
    def of_two(
        a: Tensor, b: Tensor, *, broadcast: int = 0, axis: int | None = None
    ) -> Tensor:  # fmt: skip
        result: Tensor = function(a, _aligned(a, b, broadcast, axis))
        return result


for _name, _function in {
    "Add": add, "Sub": lambda a, b: a - b, "Mul": multiply, "Div": divide, "Pow": power,
}.items():  # fmt: skip
    _pairwise(_name, _function)


def _several(name: str, function: Callable[[Any, Any], Any]) -> None:
    @operator(name)
    def of_all(*xs: Tensor) -> Tensor:
        result: Tensor = reduce(function, xs)
        return result


for _name, _function in {"Max": maximum, "Min": minimum}.items():
    _several(_name, _function)


@operator("Sum")
def sum_of_all(*xs: Tensor) -> Tensor:
    """One tensor alone is a copy: neurons of its own, as export writes them."""
    return copied(xs[0]) if len(xs) == 1 else reduce(add, xs)


@operator("Mean")
def mean(*xs: Tensor) -> Tensor:
    return divide(reduce(add, xs), float(len(xs)))


@operator("Mod", since=10)
def mod(a: Tensor, b: Tensor, *, fmod: bool = False) -> Tensor:
    """a − b · ⌊a / b⌋, with the sign of b; with `fmod` rounded towards 0, with that of a."""
    if not is_neurons(a, b):
        return np.fmod(a, b) if fmod else np.mod(a, b)
    if not fmod and "f" in (a.dtype.kind, b.dtype.kind):
        raise refuse("fmod", "0 of real numbers", "1", "ONNX had that of integers alone until 28")
    real = a.typed(np.float64) if isinstance(a, Neurons) else np.asarray(a, np.float64)
    if not isinstance(b, Neurons):
        times = quotient(real, b)
    elif a.dtype.kind in "iu":  # times a rounded reciprocal: no multiple is just missed
        times = (real + 0.5 * signs(a if fmod else b)) / b.typed(np.float64)
    else:
        times = real / b * (1.0 + 2.0**-50)
    return a - b * (truncated(times) if fmod else floor(times))
