"""Operators of com.microsoft that onnxruntime's optimizer fuses of two of ONNX's."""

from typing import Any

import numpy as np

from neat_onnx.lifting.neurons import Tensor, formula, matmul, moved, relu, sigmoid, softplus, tanh
from neat_onnx.lifting.operator import Floats, Ints, operator, refuse
from neat_onnx.model.node import RUNTIME_DOMAIN
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z
from neat_onnx.operators import elementwise
from neat_onnx.operators.matrices import gemm
from neat_onnx.operators.windows import AutoPad, conv

_ACTIVATIONS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "": (lambda x: x, ()),
    "Clip": (lambda x, low, high: formula(e.clip(z, low, high))(x), ("low", "high")),
    "Elu": (elementwise.elu, ("alpha",)),
    "HardSigmoid": (elementwise.hard_sigmoid, ("alpha", "beta")),
    "LeakyRelu": (elementwise.leaky_relu, ("alpha",)),
    "Relu": (relu, ()),
    "Selu": (elementwise.selu, ("alpha", "gamma")),
    "Sigmoid": (sigmoid, ()),
    "Softplus": (softplus, ()),
    "Softsign": (formula(e.softsign(z)), ()),
    "Tanh": (tanh, ()),
    "ThresholdedRelu": (elementwise.thresholded_relu, ("alpha",)),
}
"""By ONNX's name, the function and the names of its parameters."""


def _activated(x: Tensor, name: str, given: dict[str, float | None]) -> Tensor:
    """Apply an activation; parameters that are None are its defaults."""
    if name not in _ACTIVATIONS:
        raise refuse("activation", repr(name), " or ".join(filter(None, _ACTIVATIONS)))
    function, known = _ACTIVATIONS[name]
    return function(x, **{key: given[key] for key in known if given.get(key) is not None})


@operator("FusedGemm", domain=RUNTIME_DOMAIN)
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


@operator("FusedConv", domain=RUNTIME_DOMAIN)
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
    _, names = _ACTIVATIONS.get(activation, ("", ()))
    given: dict[str, float | None] = dict(zip(names, activation_params, strict=False))
    return _activated(y if addend is None else y + addend, activation, given)


@operator("FusedMatMul", domain=RUNTIME_DOMAIN)
def fused_matmul(
    a: Tensor, b: Tensor, *, alpha: float = 1.0, transA: bool = False, transB: bool = False,
    transBatchA: bool = False, transBatchB: bool = False,
) -> Tensor:  # fmt: skip
    """alpha · A · B of matrices that may be transposed."""
    return matmul(_turned(a, transA, transBatchA), _turned(b, transB, transBatchB)) * alpha


def _turned(x: Tensor, matrix: bool, batch: bool) -> Tensor:
    """An operand with its axes in order: a batch may stand between the axes of the matrix."""
    if x.ndim > 1 and batch:
        x = moved(x, lambda array: np.moveaxis(array, 0, -2))
    return x.swapaxes(-1, -2) if matrix and x.ndim > 1 else x
