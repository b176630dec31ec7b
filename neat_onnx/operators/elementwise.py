"""Functions of one number."""

from typing import Any, Literal

import numpy as np

from neat_onnx.lifting.neurons import Tensor, formula, is_neurons, maximum, minimum, where
from neat_onnx.lifting.operator import operator
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z
from neat_onnx.network.expression import Expression

_PRIMITIVES = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Reciprocal Relu Round "
    "Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh"
)
_FIXED: dict[str, Expression] = {
    **{name: e.call(name.lower(), z) for name in _PRIMITIVES.split()},
    "Mish": z * e.tanh(e.softplus(z)),
    "HardSwish": z * e.clip(z / 6.0 + 0.5, 0.0, 1.0),
}


def _register(name: str, expression: Expression) -> None:
    apply = formula(expression)

    @operator(name)
    def function(x: Tensor) -> Any:
        return apply(x)


for _name, _expression in _FIXED.items():
    _register(_name, _expression)


@operator("Identity")
def identity(x: Tensor) -> Tensor:
    return x


@operator("Neg")
def neg(x: Tensor) -> Tensor:
    return -x


@operator("LeakyRelu")
def leaky_relu(x: Tensor, *, alpha: float = 0.01) -> Tensor:
    return formula(e.leaky_relu(z, alpha))(x)


@operator("Elu")
def elu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return formula(e.elu(z, alpha))(x)


@operator("Selu")
def selu(
    x: Tensor, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875
) -> Tensor:
    return formula(e.selu(z, alpha, gamma))(x)


@operator("HardSigmoid")
def hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    return formula(e.clip(alpha * z + beta, 0.0, 1.0))(x)


@operator("Celu", since=12)
def celu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return formula(e.relu(z) + e.minimum(alpha * (e.exp(e.minimum(z, 0.0) / alpha) - 1.0), 0.0))(x)


@operator("ThresholdedRelu")
def thresholded_relu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return formula(e.where(e.greater(z, alpha), z, 0.0))(x)


@operator("PRelu")
def prelu(x: Tensor, slope: Tensor) -> Tensor:
    """x where it is positive, else slope · x; before opset 7 a slope for each channel."""
    if slope.ndim == 1 and x.ndim > 2 and slope.shape[0] == x.shape[1] != x.shape[-1]:
        slope = slope.reshape(-1, *(1,) * (x.ndim - 2))
    if not is_neurons(slope) and slope.size == 1:
        return formula(e.leaky_relu(z, slope.item()))(x)
    if is_neurons(slope):  # which may be infinite where x is positive
        return where(x < 0.0, x * slope, x)
    return formula(e.relu(z))(x) + formula(e.minimum(z, 0.0))(x) * slope


@operator("Shrink", since=9)
def shrink(x: Tensor, *, bias: float = 0.0, lambd: float = 0.5) -> Tensor:
    upper = e.where(e.greater(z, lambd), z - bias, 0.0)
    return formula(e.where(e.less(z, -lambd), z + bias, upper))(x)


@operator("Gelu", since=20)
def gelu(x: Tensor, *, approximate: Literal["none", "tanh"] = "none") -> Tensor:
    """x · P(X ≤ x) of a normal X, or its approximation by tanh (Hendrycks and Gimpel, 2016)."""
    if approximate == "tanh":
        inner = float(np.sqrt(2.0 / np.pi)) * (z + 0.044715 * (z * z * z))
        return formula((0.5 * z) * (1.0 + e.tanh(inner)))(x)
    return formula((0.5 * z) * (1.0 + e.erf(z / float(np.sqrt(2.0)))))(x)


@operator("Gelu", domain="com.microsoft")
@operator("BiasGelu", domain="com.microsoft")
def gelu_of_sum(x: Tensor, bias: Tensor | None = None) -> Tensor:
    return gelu(x if bias is None else x + bias)


@operator("FastGelu", domain="com.microsoft")
def gelu_by_tanh(x: Tensor, bias: Tensor | None = None) -> Tensor:
    return gelu(x if bias is None else x + bias, approximate="tanh")


@operator("QuickGelu", domain="com.microsoft")
def quick_gelu(x: Tensor, *, alpha: float = 1.702) -> Tensor:
    return formula(z * e.sigmoid(alpha * z))(x)


@operator("Clip")
def clip(x: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    """Bounds that are numbers are one formula, which people call by its name."""
    if not is_neurons(min, max):
        low, high = -np.inf if min is None else float(min), np.inf if max is None else float(max)
        is_relu = (low, high) == (0.0, np.inf)
        return formula(e.relu(z) if is_relu else e.clip(z, low, high))(x)
    x = x if min is None else maximum(x, min)
    return x if max is None else minimum(x, max)
