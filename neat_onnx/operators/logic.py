"""Comparisons, truth values, and choices."""

import operator as op
from collections.abc import Callable
from typing import Literal

import numpy as np

from neat_onnx.lifting.neurons import Tensor, where
from neat_onnx.lifting.operator import Array, operator
from neat_onnx.operators.arithmetic import _pairwise

for _name, _function in {
    "Greater": op.gt, "Less": op.lt, "GreaterOrEqual": op.ge, "LessOrEqual": op.le, "Equal": op.eq,
    "And": op.and_, "Or": op.or_, "Xor": op.xor,
}.items():  # fmt: skip
    _pairwise(_name, _function)


@operator("Not")
def negation(x: Tensor) -> Tensor:
    return ~x


@operator("Where", since=9)
def choose(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return where(condition, x, y)


def _bitwise(name: str, function: Callable[[Array, Array], Array]) -> None:
    @operator(name, since=18)
    def of_integers(a: Array, b: Array) -> Array:
        return function(a, b)


for _name, _function in {
    "BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor,
}.items():  # fmt: skip
    _bitwise(_name, _function)


@operator("BitwiseNot", since=18)
def inverted(x: Array) -> Array:
    return np.invert(x)


@operator("BitShift", since=11)
def shifted(x: Array, y: Array, *, direction: Literal["LEFT", "RIGHT"]) -> Array:
    return np.left_shift(x, y) if direction == "LEFT" else np.right_shift(x, y)
