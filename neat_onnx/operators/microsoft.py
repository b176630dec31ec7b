"""Operators of onnxruntime's own domain, com.microsoft, that its optimizer fuses from ONNX's."""

from typing import Any

import numpy as np

from neat_onnx.lifting.formulas import (
    Function,
    formula,
    relu,
    sigmoid,
    softplus,
    sqrt,
    square,
    tanh,
)
from neat_onnx.lifting.neurons import Tensor, matmul, moved
from neat_onnx.lifting.operator import Floats, Ints, operator, refuse
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z
from neat_onnx.operators import elementwise
from neat_onnx.operators.matrices import gemm
from neat_onnx.operators.normalization import simplified_layer_normalization
from neat_onnx.operators.windows import AutoPad, conv

MICROSOFT = "com.microsoft"
_PARAMETERS = {
    "Elu": ("alpha",), "HardSigmoid": ("alpha", "beta"), "LeakyRelu": ("alpha",),
    "Selu": ("alpha", "gamma"), "ThresholdedRelu": ("alpha",),
}  # fmt: skip
_PLAIN: dict[str, Function] = {
    "": lambda x: x, "Relu": relu, "Sigmoid": sigmoid, "Softplus": softplus,
    "Softsign": formula(e.softsign(z)), "Tanh": tanh,
}  # fmt: skip
_WITH_PARAMETERS: dict[str, Any] = {
    "Elu": elementwise.elu, "HardSigmoid": elementwise.hard_sigmoid,
    "LeakyRelu": elementwise.leaky_relu, "Selu": elementwise.selu,
    "ThresholdedRelu": elementwise.thresholded_relu,
}  # fmt: skip


def _activated(x: Tensor, name: str, given: dict[str, float | None]) -> Tensor:
    """An activation by ONNX's name; parameters that are None are its defaults."""
    if name in _PLAIN:
        return _PLAIN[name](x)
    if name not in _PARAMETERS:
        raise refuse("activation", repr(name), " or ".join([*_PARAMETERS, *_PLAIN]))
    known = {key: given[key] for key in _PARAMETERS[name] if given.get(key) is not None}
    return _WITH_PARAMETERS[name](x, **known)


@operator("FusedGemm", domain=MICROSOFT)
def fused_gemm(
    a: Tensor, b: Tensor, c: Tensor | None = None, *, alpha: float = 1.0, beta: float = 1.0,
    transA: bool = False, transB: bool = False, activation: str = "",
    activation_alpha: float | None = None, activation_beta: float | None = None,
    activation_gamma: float | None = None,
) -> Tensor:  # fmt: skip
    """Gemm, then an activation with parameters of their own names."""
    dense = gemm(a, b, c, alpha=alpha, beta=beta, transA=transA, transB=transB)
    given = {"alpha": activation_alpha, "beta": activation_beta, "gamma": activation_gamma}
    return _activated(dense, activation, given)


@operator("FusedConv", domain=MICROSOFT)
def fused_conv(
    x: Tensor, w: Tensor, b: Tensor | None = None, addend: Tensor | None = None, *,
    kernel_shape: Ints | None = None, strides: Ints | None = None, pads: Ints | None = None,
    dilations: Ints | None = None, group: int = 1, auto_pad: AutoPad = "NOTSET",
    activation: str = "", activation_params: Floats = (),
) -> Tensor:  # fmt: skip
    """Conv, plus a fourth input, then an activation with a list of parameters."""
    y = conv(
        x, w, b, kernel_shape=kernel_shape, strides=strides, pads=pads, dilations=dilations,
        group=group, auto_pad=auto_pad,
    )  # fmt: skip
    y = y if addend is None else y + addend
    if activation == "Clip":
        return formula(e.clip(z, *activation_params))(y)
    names = _PARAMETERS.get(activation, ())
    return _activated(y, activation, dict(zip(names, activation_params, strict=False)))


def _turned(x: Tensor, matrix: bool, batch: bool) -> Tensor:
    """An operand with its axes in order: a batch may stand between the axes of the matrix."""
    if x.ndim > 1 and batch:
        x = moved(x, lambda array: np.moveaxis(array, 0, -2))
    return x.swapaxes(-1, -2) if matrix and x.ndim > 1 else x


@operator("FusedMatMul", domain=MICROSOFT)
def fused_matmul(
    a: Tensor, b: Tensor, *, alpha: float = 1.0, transA: bool = False, transB: bool = False,
    transBatchA: bool = False, transBatchB: bool = False,
) -> Tensor:  # fmt: skip
    """alpha · A · B of matrices that may be transposed."""
    product = matmul(_turned(a, transA, transBatchA), _turned(b, transB, transBatchB))
    return product * alpha


@operator("Gelu", domain=MICROSOFT)
def gelu(x: Tensor) -> Tensor:
    return elementwise.gelu(x)


@operator("BiasGelu", domain=MICROSOFT)
def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
    return elementwise.gelu(x + bias)


@operator("FastGelu", domain=MICROSOFT)
def fast_gelu(x: Tensor, bias: Tensor | None = None) -> Tensor:
    """The approximation by tanh."""
    return elementwise.gelu(x if bias is None else x + bias, approximate="tanh")


@operator("QuickGelu", domain=MICROSOFT)
def quick_gelu(x: Tensor, *, alpha: float = 1.702) -> Tensor:
    return formula(z * e.sigmoid(alpha * z))(x)


@operator("SkipLayerNormalization", domain=MICROSOFT)
def skip_layer_normalization(
    input: Tensor, skip: Tensor, gamma: Tensor, beta: Tensor | None = None,
    bias: Tensor | None = None, *, epsilon: float = 1e-12,
) -> tuple[Tensor, ...]:  # fmt: skip
    """LayerNormalization of a sum, which is the fourth output."""
    total = input + skip if bias is None else input + skip + bias
    centred = total - total.mean(axis=-1, keepdims=True)
    scatter = square(centred).mean(axis=-1, keepdims=True)
    y = centred / sqrt(scatter + epsilon) * gamma
    return y if beta is None else y + beta, None, None, total


@operator("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_simplified_layer_normalization(
    input: Tensor, skip: Tensor, gamma: Tensor, bias: Tensor | None = None, *,
    epsilon: float = 1e-12,
) -> tuple[Tensor, ...]:  # fmt: skip
    """SimplifiedLayerNormalization of a sum, which is the fourth output."""
    total = input + skip if bias is None else input + skip + bias
    return simplified_layer_normalization(total, gamma, epsilon=epsilon), None, None, total
