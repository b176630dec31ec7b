"""Numbers in steps of an integer type: ONNX's operators, and onnxruntime's on quantized tensors.

    q = clip(round(x / scale) + zero, low, high)        x ≈ (q − zero) · scale

What is computed of quantized tensors is computed of the numbers that they mean, and quantized.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from neat_onnx.lifting import neurons as n
from neat_onnx.lifting.formulas import Function, formula, rounded, sigmoid
from neat_onnx.lifting.neurons import Neurons, Tensor, is_neurons, matmul, maximum, minimum, where
from neat_onnx.lifting.operator import Ints, held_type, operator, refuse
from neat_onnx.model import DataType
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z
from neat_onnx.operators.elementwise import leaky_relu
from neat_onnx.operators.ordering import _real
from neat_onnx.operators.reductions import softmax
from neat_onnx.operators.windows import AutoPad, average_pool, conv, global_average_pool

MICROSOFT = "com.microsoft"
_MOST_BITS = 16
_ANY = (slice(None),)
_SMALLEST = 2.0**-96  # its last digit is no subnormal number, which processors take for 0
_EXPONENT = e.floor(e.log(abs(z) + _SMALLEST) / math.log(2.0))
_UNIT = e.power(e.constant(2.0), _EXPONENT - 23.0)
_single = formula(e.rounded(z / _UNIT) * _UNIT)  # a number rounded to the digits of float32


# --- steps ----------------------------------------------------------------------------------------


def _along(values: Tensor, x: Tensor, axis: int, block_size: int = 0) -> Tensor:
    """Scales or zero points in the shape of x: one of all, of each place of an axis, of blocks."""
    values = _real(values)
    if values.size == 1:
        return values.reshape(())
    if block_size:
        reads = (*_ANY * (axis % x.ndim), np.arange(x.shape[axis]) // block_size)
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
    kind: Any = np.uint8, zero_first: bool = False,
) -> Tensor:  # fmt: skip
    """Steps of numbers; with `zero_first` they are rounded after the zero point is added."""
    kind = np.dtype(kind) if zero is None else zero.dtype
    low, high = _limits(kind)
    scale = _along(scale, x, axis, block_size)
    shift = 0.0 if zero is None else _along(zero, x, axis, block_size)
    x = _real(x)
    if is_neurons(x) and not is_neurons(scale, shift) and not np.ndim(scale) + np.ndim(shift):
        return _typed(_steps(float(scale), float(shift), low, high, zero_first)(x), kind)
    plain = is_neurons(x) and not is_neurons(scale)  # many are half-way where scales are computed
    quotient = x / scale if plain else _single(x / _single(scale))
    steps = rounded(quotient + shift) if zero_first else rounded(quotient) + shift
    return _typed(minimum(maximum(steps, low), high), kind)


def _steps(scale: float, zero: float, low: float, high: float, zero_first: bool) -> Function:
    """The formula of steps, as an export of int8 writes it."""
    quotient = z if scale == 1.0 else z / scale
    if not zero:
        return formula(e.clip(e.rounded(quotient), low, high))
    steps = e.rounded(quotient + zero) if zero_first else e.rounded(quotient) + zero
    return formula(e.clip(steps, low, high))


def _typed(x: Tensor, kind: Any) -> Tensor:
    return x.typed(kind) if isinstance(x, Neurons) else np.asarray(x).astype(kind)


def real(
    x: Tensor, scale: Tensor, zero: Tensor | None = None, *, axis: int = 1, block_size: int = 0
) -> Tensor:
    """The numbers that steps mean."""
    less = _real(x) if zero is None else _real(x) - _along(zero, x, axis, block_size)
    return less * _along(scale, x, axis, block_size)


@operator("QuantizeLinear")
def quantize_linear(
    x: Tensor, y_scale: Tensor, y_zero_point: Tensor | None = None, *, axis: int = 1,
    block_size: int = 0, output_dtype: int = 0, saturate: bool = True, precision: int = 0,
) -> Tensor:  # fmt: skip
    if not is_neurons(y_scale) and not np.all(y_scale):
        raise refuse("y_scale", 0, "another number")
    kind = held_type(DataType(output_dtype or DataType.UINT8))
    return quantized(x, y_scale, y_zero_point, axis=axis, block_size=block_size, kind=kind)


@operator("DequantizeLinear")
def dequantize_linear(
    x: Tensor, x_scale: Tensor, x_zero_point: Tensor | None = None, *, axis: int = 1,
    block_size: int = 0, output_dtype: int = 0,
) -> Tensor:  # fmt: skip
    return real(x, x_scale, x_zero_point, axis=axis, block_size=block_size)


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
    return _typed(steps, np.uint8), scale, _typed(zero, np.uint8)


# --- products -------------------------------------------------------------------------------------


def _less(x: Tensor, zero: Tensor | None, axis: int) -> Tensor:
    return _real(x) if zero is None else _real(x) - _along(zero, x, axis)


@operator("MatMulInteger", since=10)
def matmul_integer(
    a: Tensor, b: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> Tensor:
    return _typed(matmul(_less(a, a_zero_point, -2), _less(b, b_zero_point, -1)), np.int32)


@operator("ConvInteger", since=10)
def conv_integer(
    x: Tensor, w: Tensor, x_zero_point: Tensor | None = None, w_zero_point: Tensor | None = None, *,
    kernel_shape: Ints | None = None, strides: Ints | None = None, pads: Ints | None = None,
    dilations: Ints | None = None, group: int = 1, auto_pad: AutoPad = "NOTSET",
) -> Tensor:  # fmt: skip
    return _typed(
        conv(
            _less(x, x_zero_point, 1), _less(w, w_zero_point, 0), kernel_shape=kernel_shape,
            strides=strides, pads=pads, dilations=dilations, group=group, auto_pad=auto_pad,
        ),
        np.int32,
    )  # fmt: skip


@operator("QLinearMatMul", since=10)
def q_linear_matmul(
    a: Tensor, a_scale: Tensor, a_zero_point: Tensor, b: Tensor, b_scale: Tensor,
    b_zero_point: Tensor, y_scale: Tensor, y_zero_point: Tensor,
) -> Tensor:  # fmt: skip
    """Scales and zero points of A and Y are of rows, those of B of columns."""
    product = matmul(
        real(a, a_scale, a_zero_point, axis=-2), real(b, b_scale, b_zero_point, axis=-1)
    )
    return quantized(product, y_scale, y_zero_point, axis=-2)


@operator("QGemm", domain=MICROSOFT)
def q_gemm(
    a: Tensor, a_scale: Tensor, a_zero_point: Tensor, b: Tensor, b_scale: Tensor,
    b_zero_point: Tensor, c: Tensor | None = None, y_scale: Tensor | None = None,
    y_zero_point: Tensor | None = None, *, alpha: float = 1.0, transA: bool = False,
    transB: bool = False,
) -> Tensor:  # fmt: skip
    """C is in steps of alpha · a_scale · b_scale; without y_scale the result is floating."""
    left = real(a, a_scale, a_zero_point)
    right = real(b, b_scale, b_zero_point, axis=0 if transB else 1)
    product = matmul(left.T if transA else left, right.T if transB else right) * alpha
    if c is not None:
        product = product + _real(c) * (_real(b_scale) * (_real(a_scale) * alpha))
    return product if y_scale is None else quantized(product, y_scale, y_zero_point)


def _channels_first(x: Tensor, channels_last: bool) -> Tensor:
    return n.moved(x, lambda a: np.moveaxis(a, -1, 1)) if channels_last else x


def _channels_back(x: Tensor, channels_last: bool) -> Tensor:
    return n.moved(x, lambda a: np.moveaxis(a, 1, -1)) if channels_last else x


def _q_linear_conv(domain: str) -> None:
    @operator("QLinearConv", domain=domain)
    def q_linear_conv(
        x: Tensor, x_scale: Tensor, x_zero_point: Tensor, w: Tensor, w_scale: Tensor,
        w_zero_point: Tensor, y_scale: Tensor, y_zero_point: Tensor, b: Tensor | None = None, *,
        kernel_shape: Ints | None = None, strides: Ints | None = None, pads: Ints | None = None,
        dilations: Ints | None = None, group: int = 1, auto_pad: AutoPad = "NOTSET",
        channels_last: bool = False,
    ) -> Tensor:  # fmt: skip
        """B is in steps of x_scale · w_scale."""
        values = real(_channels_first(x, channels_last), x_scale, x_zero_point)
        weights = real(w, w_scale, w_zero_point, axis=0)
        bias = None if b is None else _real(b) * (_real(w_scale) * _real(x_scale)).reshape(-1)
        y = conv(
            values, weights, bias, kernel_shape=kernel_shape, strides=strides, pads=pads,
            dilations=dilations, group=group, auto_pad=auto_pad,
        )  # fmt: skip
        return _channels_back(quantized(y, y_scale, y_zero_point), channels_last)


_q_linear_conv("")
_q_linear_conv(MICROSOFT)


@operator("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(
    a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor, a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None, bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    left = real(a, a_scale, a_zero_point, axis=-2)
    return matmul(left, real(b, b_scale, b_zero_point, axis=-1), bias)


@operator("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(
    a: Tensor, b: Tensor, b_scale: Tensor, b_zero_point: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    steps, scale, zero = dynamic_quantize_linear(a)
    return matmul_integer_to_float(steps, b, scale, b_scale, zero, b_zero_point, bias)


# --- onnxruntime's operators on quantized tensors -------------------------------------------------

operator("QuantizeLinear", domain=MICROSOFT)(quantize_linear)
operator("DequantizeLinear", domain=MICROSOFT)(dequantize_linear)


def _of_two(name: str, function: Callable[[Any, Any], Any]) -> None:
    @operator(name, domain=MICROSOFT)
    def binary(
        a: Tensor, a_scale: Tensor, a_zero_point: Tensor | None, b: Tensor, b_scale: Tensor,
        b_zero_point: Tensor | None, c_scale: Tensor, c_zero_point: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        y = function(real(a, a_scale, a_zero_point), real(b, b_scale, b_zero_point))
        return quantized(y, c_scale, c_zero_point, kind=a.dtype, zero_first=True)


_of_two("QLinearAdd", n.add)
_of_two("QLinearMul", n.multiply)


@operator("QLinearSigmoid", domain=MICROSOFT)
def q_linear_sigmoid(
    x: Tensor, x_scale: Tensor, x_zero_point: Tensor | None, y_scale: Tensor,
    y_zero_point: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return quantized(sigmoid(real(x, x_scale, x_zero_point)), y_scale, y_zero_point, kind=x.dtype)


@operator("QLinearLeakyRelu", domain=MICROSOFT)
def q_linear_leaky_relu(
    x: Tensor, x_scale: Tensor, x_zero_point: Tensor | None, y_scale: Tensor,
    y_zero_point: Tensor | None = None, *, alpha: float = 0.01,
) -> Tensor:  # fmt: skip
    y = leaky_relu(real(x, x_scale, x_zero_point), alpha=alpha)
    return quantized(y, y_scale, y_zero_point, kind=x.dtype)


@operator("QLinearSoftmax", domain=MICROSOFT)
def q_linear_softmax(
    x: Tensor, x_scale: Tensor, x_zero_point: Tensor | None, y_scale: Tensor,
    y_zero_point: Tensor, *, axis: int = -1, opset: int,
) -> Tensor:  # fmt: skip
    """Its steps are whole parts of 1: 254 of them, where the scale is a little more than 1/255."""
    y = softmax(real(x, x_scale, x_zero_point), axis=axis, opset=opset)
    return quantized(y * np.floor(1.0 / float(y_scale)), np.ones(()), y_zero_point)


@operator("QLinearWhere", domain=MICROSOFT)
def q_linear_where(
    condition: Tensor, x: Tensor, x_scale: Tensor, x_zero_point: Tensor, y: Tensor,
    y_scale: Tensor, y_zero_point: Tensor, z_scale: Tensor, z_zero_point: Tensor,
) -> Tensor:  # fmt: skip
    one, other = real(x, x_scale, x_zero_point), real(y, y_scale, y_zero_point)
    return quantized(where(condition, one, other), z_scale, z_zero_point)


@operator("QLinearConcat", domain=MICROSOFT)
def q_linear_concat(y_scale: Tensor, y_zero_point: Tensor, *inputs: Tensor, axis: int) -> Tensor:
    """Its inputs are tensors, each with its scale and zero point."""
    parts = [real(*inputs[k : k + 3]) for k in range(0, len(inputs), 3)]
    return quantized(n.concat(parts, axis), y_scale, y_zero_point)


@operator("QLinearAveragePool", domain=MICROSOFT)
def q_linear_average_pool(
    x: Tensor, x_scale: Tensor, x_zero_point: Tensor | None, y_scale: Tensor,
    y_zero_point: Tensor | None = None, *, kernel_shape: Ints, strides: Ints | None = None,
    pads: Ints | None = None, auto_pad: AutoPad = "NOTSET", ceil_mode: bool = False,
    count_include_pad: bool = False, channels_last: bool = False,
) -> Tensor:  # fmt: skip
    values = _channels_first(real(x, x_scale, x_zero_point), channels_last)
    y = average_pool(
        values, kernel_shape=kernel_shape, strides=strides, pads=pads, auto_pad=auto_pad,
        ceil_mode=ceil_mode, count_include_pad=count_include_pad,
    )  # fmt: skip
    steps = quantized(y, y_scale, y_zero_point, kind=x.dtype, zero_first=True)
    return _channels_back(steps, channels_last)


@operator("QLinearGlobalAveragePool", domain=MICROSOFT)
def q_linear_global_average_pool(
    x: Tensor, x_scale: Tensor, x_zero_point: Tensor | None, y_scale: Tensor,
    y_zero_point: Tensor | None = None, *, channels_last: bool = False,
) -> Tensor:  # fmt: skip
    values = _channels_first(real(x, x_scale, x_zero_point), channels_last)
    y = quantized(global_average_pool(values), y_scale, y_zero_point, kind=x.dtype)
    return _channels_back(y, channels_last)
