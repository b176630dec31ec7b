"""Numbers in steps of an integer type.

    q = clip(round(x / scale) + zero, low, high)        x ≈ (q − zero) · scale

What is computed of quantized tensors is computed of the numbers that they mean, and quantized.
"""

import math
from typing import Any

import numpy as np

from neat_onnx.lifting.neurons import (
    Function,
    Tensor,
    formula,
    is_neurons,
    matmul,
    maximum,
    minimum,
    rounded,
    where,
)
from neat_onnx.lifting.operator import axis_within, operator, refuse
from neat_onnx.model import DataType
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z
from neat_onnx.operators.ordering import real, typed
from neat_onnx.operators.windows import conv

_MOST_BITS = 16
_ANY = (slice(None),)
_SMALLEST = 2.0**-96  # its last digit is no subnormal number, which processors take for 0
_EXPONENT = e.floor(e.log(abs(z) + _SMALLEST) / math.log(2.0))
_UNIT = e.power(e.constant(2.0), _EXPONENT - 23.0)
_single = formula(e.rounded(z / _UNIT) * _UNIT)  # a number rounded to the digits of float32


# --- steps ----------------------------------------------------------------------------------------


def _along(values: Tensor, x: Tensor, axis: int, block_size: int = 0) -> Tensor:
    """Scales or zero points in the shape of x: one of all, of each place of an axis, of blocks."""
    values = real(values)
    if values.size == 1:
        return values.reshape(())
    if block_size:
        reads = (*_ANY * axis_within(axis, x.ndim), np.arange(x.shape[axis]) // block_size)
        return values[reads]
    shape = [1] * x.ndim
    shape[axis] = -1
    return values.reshape(shape) if values.ndim == 1 else values


def _limits(kind: np.dtype[Any]) -> tuple[float, float]:
    """The least and the largest integer of a type."""
    bits = 8 * kind.itemsize
    if kind.kind not in "iu" or bits > _MOST_BITS:
        raise refuse("the zero point", f"of the type {kind}", "integers of 8 or 16 bits")
    low = 0 if kind.kind == "u" else -(1 << (bits - 1))
    return float(low), float(low + (1 << bits) - 1)


def quantized(
    x: Tensor, scale: Tensor, zero: Tensor | None = None, *, axis: int = 1, block_size: int = 0,
    kind: Any = np.uint8,
) -> Tensor:  # fmt: skip
    """Steps of numbers."""
    kind = np.dtype(kind) if zero is None else zero.dtype
    low, high = _limits(kind)
    scale = _along(scale, x, axis, block_size)
    shift = 0.0 if zero is None else _along(zero, x, axis, block_size)
    x = real(x)
    if is_neurons(x) and not is_neurons(scale, shift) and not np.ndim(scale) + np.ndim(shift):
        return typed(_steps(float(scale), float(shift), low, high)(x), kind)
    plain = is_neurons(x) and not is_neurons(scale)  # many are half-way where scales are computed
    quotient = x / scale if plain else _single(x / _single(scale))
    return typed(minimum(maximum(rounded(quotient) + shift, low), high), kind)


def _steps(scale: float, zero: float, low: float, high: float) -> Function:
    """The formula of steps, as an export of int8 writes it."""
    steps = e.rounded(z if scale == 1.0 else z / scale)
    return formula(e.clip(steps + zero if zero else steps, low, high))


def _less(x: Tensor, zero: Tensor | None, axis: int, block_size: int = 0) -> Tensor:
    return real(x) if zero is None else real(x) - _along(zero, x, axis, block_size)


@operator("QuantizeLinear")
def quantize_linear(
    x: Tensor, y_scale: Tensor, y_zero_point: Tensor | None = None, *, axis: int = 1,
    block_size: int = 0, output_dtype: int = 0, saturate: bool = True, precision: int = 0,
) -> Tensor:  # fmt: skip
    if not is_neurons(y_scale) and not np.all(y_scale):
        raise refuse("y_scale", 0, "another number")
    kind = DataType(output_dtype or DataType.UINT8).dtype
    return quantized(x, y_scale, y_zero_point, axis=axis, block_size=block_size, kind=kind)


@operator("DequantizeLinear")
def dequantize_linear(
    x: Tensor, x_scale: Tensor, x_zero_point: Tensor | None = None, *, axis: int = 1,
    block_size: int = 0, output_dtype: int = 0,
) -> Tensor:  # fmt: skip
    """The numbers that steps mean."""
    return _less(x, x_zero_point, axis, block_size) * _along(x_scale, x, axis, block_size)


@operator("DynamicQuantizeLinear")
def dynamic_quantize_linear(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Steps of the range of all elements, which has 0 in it.

    Quotients are rounded to float32, as in runtimes: many are half-way between two steps otherwise,
    of a range from −1 to 1 the zero point itself.
    """
    least, most = minimum(x.min(), 0.0), maximum(x.max(), 0.0)
    scale = _single(_single(most - least) / 255.0)
    scale = where(scale == 0.0, 1.0, scale)
    zero = minimum(maximum(rounded(-_single(least / scale)), 0.0), 255.0)
    steps = minimum(maximum(rounded(_single(x / scale)) + zero, 0.0), 255.0)
    return typed(steps, np.uint8), scale, typed(zero, np.uint8)


# --- products -------------------------------------------------------------------------------------


@operator("MatMulInteger", since=10)
def matmul_integer(
    a: Tensor, b: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> Tensor:
    return typed(matmul(_less(a, a_zero_point, -2), _less(b, b_zero_point, -1)), np.int32)


@operator("ConvInteger", since=10, like=conv)
def conv_integer(
    x: Tensor, w: Tensor, x_zero_point: Tensor | None = None, w_zero_point: Tensor | None = None,
    **slides: Any,
) -> Tensor:  # fmt: skip
    return typed(conv(_less(x, x_zero_point, 1), _less(w, w_zero_point, 0), **slides), np.int32)


@operator("QLinearMatMul", since=10)
def q_linear_matmul(
    a: Tensor, a_scale: Tensor, a_zero_point: Tensor, b: Tensor, b_scale: Tensor,
    b_zero_point: Tensor, y_scale: Tensor, y_zero_point: Tensor,
) -> Tensor:  # fmt: skip
    """Scales and zero points of A and Y are of rows, those of B of columns."""
    rows = dequantize_linear(a, a_scale, a_zero_point, axis=-2)
    columns = dequantize_linear(b, b_scale, b_zero_point, axis=-1)
    return quantized(matmul(rows, columns), y_scale, y_zero_point, axis=-2)


@operator("QLinearConv", since=10, like=conv)
def q_linear_conv(
    x: Tensor, x_scale: Tensor, x_zero_point: Tensor, w: Tensor, w_scale: Tensor,
    w_zero_point: Tensor, y_scale: Tensor, y_zero_point: Tensor, b: Tensor | None = None,
    **slides: Any,
) -> Tensor:  # fmt: skip
    """B is in steps of x_scale · w_scale."""
    values = dequantize_linear(x, x_scale, x_zero_point)
    weights = dequantize_linear(w, w_scale, w_zero_point, axis=0)
    bias = None if b is None else real(b) * (real(w_scale) * real(x_scale)).reshape(-1)
    return quantized(conv(values, weights, bias, **slides), y_scale, y_zero_point)


operator("QuantizeLinear", domain="com.microsoft")(quantize_linear)
operator("DequantizeLinear", domain="com.microsoft")(dequantize_linear)
