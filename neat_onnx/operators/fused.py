"""Operators of com.microsoft that onnxruntime's optimizer fuses of two of ONNX's."""

from typing import Any

import numpy as np

from neat_onnx.lifting.neurons import Tensor, matmul, moved
from neat_onnx.lifting.operator import OPERATORS, Floats, operator, refuse
from neat_onnx.model.node import RUNTIME_DOMAIN
from neat_onnx.operators.matrices import gemm
from neat_onnx.operators.windows import conv

_ACTIVATIONS = ("Clip", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Softplus",
                "Softsign", "Tanh", "ThresholdedRelu")  # fmt: skip


def _parameters(name: str) -> tuple[str, ...]:
    """The names of an activation's parameters, in their order."""
    known = OPERATORS.get(("", name))
    return (*known.inputs[1:], *known.attributes) if known else ()


def _activated(x: Tensor, name: str, given: dict[str, float | None]) -> Any:
    """Apply an activation; parameters that are None are its defaults."""
    if not name:
        return x
    if name not in _ACTIVATIONS:
        raise refuse("activation", repr(name), " or ".join(_ACTIVATIONS))
    known = {key: given[key] for key in _parameters(name) if given.get(key) is not None}
    return OPERATORS["", name].function(x, **known)


@operator("FusedGemm", domain=RUNTIME_DOMAIN, like=gemm)
def fused_gemm(
    a: Tensor, b: Tensor, c: Tensor | None = None, *, activation: str = "",
    activation_alpha: float | None = None, activation_beta: float | None = None,
    activation_gamma: float | None = None, **factors: Any,
) -> Tensor:  # fmt: skip
    """Gemm, then an activation with parameters of their own names."""
    dense = gemm(a, b, c, **factors)
    given = {"alpha": activation_alpha, "beta": activation_beta, "gamma": activation_gamma}
    return _activated(dense, activation, given)


@operator("FusedConv", domain=RUNTIME_DOMAIN, like=conv)
def fused_conv(
    x: Tensor, w: Tensor, b: Tensor | None = None, addend: Tensor | None = None, *,
    activation: str = "", activation_params: Floats = (), **slides: Any,
) -> Tensor:  # fmt: skip
    """Conv, plus a fourth input, then an activation with a list of parameters."""
    y = conv(x, w, b, **slides)
    names = _parameters(activation)
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
