"""Normalizations, and what only training does."""

from typing import Literal

import numpy as np

from neat_onnx.lifting.neurons import (
    Tensor,
    absolute,
    affine,
    formula,
    is_neurons,
    matmul,
    moved,
    multiply,
    power,
    sqrt,
    square,
)
from neat_onnx.lifting.operator import Array, Ints, axis_within, operator, refuse
from neat_onnx.model.budget import require_elements
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z

_not_zero = formula(e.where(e.equal(z, 0.0), 1.0, z))


def _for_channels(x: Tensor, numbers: Tensor) -> Tensor:
    """One number for each channel of [N, C, …]."""
    return numbers.reshape(1, -1, *(1,) * (x.ndim - 2)) if numbers.ndim == 1 else numbers[None]


@operator("BatchNormalization")
def batch_normalization(
    x: Tensor, scale: Tensor, b: Tensor, mean: Tensor, var: Tensor, *, epsilon: float = 1e-5,
    momentum: float = 0.9, training_mode: Literal[0] = 0, is_test: int = 1, spatial: int = 1,
) -> Tensor:  # fmt: skip
    """scale · (x − mean) / √(var + epsilon) + b, by numbers that were learned."""
    factor = scale / sqrt(var + epsilon)
    shift = b - mean * factor
    factor, shift = _for_channels(x, factor), _for_channels(x, shift)
    if is_neurons(factor, shift):
        return x * factor + shift
    return affine(x, factor, shift)


@operator("InstanceNormalization")
def instance_normalization(
    input: Tensor, scale: Tensor, b: Tensor, *, epsilon: float = 1e-5
) -> Tensor:  # fmt: skip
    """Each channel of each sample by its own mean and variance."""
    axes = tuple(range(2, input.ndim))
    centred = input - input.mean(axis=axes, keepdims=True)
    scatter = square(centred).mean(axis=axes, keepdims=True)
    normal = centred / sqrt(scatter + epsilon)
    return normal * _for_channels(input, scale) + _for_channels(input, b)


@operator("MeanVarianceNormalization", since=9)
def mean_variance_normalization(x: Tensor, *, axes: Ints = (0, 2, 3)) -> Tensor:
    """(x − mean) / (√variance + 1e-9); the body of ONNX has roots of less than 0 by rounding."""
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / (sqrt(square(centred).mean(axis=axes, keepdims=True)) + 1e-9)


@operator("SimplifiedLayerNormalization")
def simplified_layer_normalization(
    x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Tensor:
    """scale · x / √(mean of squares + epsilon), an operator of onnxruntime."""
    axes = tuple(range(axis_within(axis, x.ndim), x.ndim))
    return x / sqrt(square(x).mean(axis=axes, keepdims=True) + epsilon) * scale


@operator("LpNormalization")
def lp_normalization(input: Tensor, *, axis: int = -1, p: Literal[1, 2] = 2) -> Tensor:
    """x / (Σ |x|^p)^(1/p), and 0 where that is 0."""
    powers = (absolute(input) if p == 1 else square(input)).sum(axis=axis, keepdims=True)
    return input / _not_zero(powers if p == 1 else sqrt(powers))


@operator("LRN")
def local_response_normalization(
    x: Tensor, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> Tensor:
    """x / (bias + alpha / size · Σ x² over `size` channels around it)^beta."""
    require_elements(x.shape[1], x.shape[1])
    apart = np.subtract.outer(*[np.arange(x.shape[1])] * 2)  # [of a sum, of a square]
    near = (-((size - 1) - (size - 1) // 2) <= apart) & (apart <= (size - 1) // 2)
    channels_last = moved(square(x), lambda array: np.moveaxis(array, 1, -1))
    sums = matmul(channels_last, near.T * (alpha / size))
    factor = power(sums + bias, -beta)
    return multiply(x, moved(factor, lambda array: np.moveaxis(array, -1, 1)))


@operator("Dropout")
def dropout(
    data: Tensor, ratio: Array | None = None, training_mode: Array | None = None, *,
    seed: int = 0, is_test: int = 1,
) -> tuple[Tensor, Array]:  # fmt: skip
    """Nothing, where nobody trains."""
    trains = training_mode is not None and bool(training_mode)
    if trains and (ratio is None or float(ratio) != 0.0):
        raise refuse("training_mode", "true", "false: a network drops no neuron by chance")
    return data, np.ones(data.shape, np.bool_)
