"""Comparisons, truth values, and choices."""

import operator as op

from neat_onnx.tracing.neurons import Tensor, where
from neat_onnx.tracing.operator import operator
from neat_onnx.tracing.operators.arithmetic import _pairwise

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
