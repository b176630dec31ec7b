"""Formulas in primitives that runtimes compute: float64 has fewer kernels than float32."""

from collections.abc import Callable

from neat_onnx.model import DataType
from neat_onnx.network.expression import Expression, exp, greater, log, relu, where


def _softplus(x: Expression) -> Expression:
    return relu(x) + log(1.0 + exp(-abs(x)))


def _elu(x: Expression, alpha: Expression) -> Expression:
    return where(greater(x, 0.0), x, alpha.value * (exp(x) - 1.0))


_FLOAT64: dict[str, Callable[..., Expression]] = {
    "softplus": _softplus,
    "softsign": lambda x: x / (1.0 + abs(x)),
    "elu": _elu,
    "selu": lambda x, alpha, gamma: gamma.value * _elu(x, alpha),
    "leaky_relu": lambda x, slope: where(greater(x, 0.0), x, slope.value * x),
}


def writable(formula: Expression, data_type: DataType) -> Expression:
    """The formula in primitives that runtimes have kernels for in this type.

    In float64 an operator's attributes would be float32 still, and some have no kernel.
    """
    args = tuple(writable(arg, data_type) for arg in formula.args)
    if data_type is DataType.DOUBLE and formula.op in _FLOAT64:
        return _FLOAT64[formula.op](*args)
    return Expression(formula.op, args, formula.value)
