"""Products of quantized tensors: MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv, QGemm.

A step q of a quantized tensor means the number (q − zero) · scale. Products are products of
q − zero, which are integers; their scale, and the steps of the result, come after them.
"""

import math
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Operand, Value, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.operators.algebra import Algebra, rearranged, reshaped, shared
from neat_onnx.operators.formulas.formula import formula_of
from neat_onnx.operators.products.tensors import matrix_product
from neat_onnx.operators.quantization import SINGLE, quantized, range_of
from neat_onnx.operators.spatial.convolution import convolved
from neat_onnx.operators.spatial.layer import channels_and_space
from neat_onnx.operators.spatial.nodes import ConvAttributes


class MatMulInteger(Node):
    """A, B, and the zero points of both."""

    inputs = (2, 4)
    since = 10


class QLinearMatMul(Node):
    """A, B and the result, each with its scale and its zero point."""

    inputs = (8, 8)
    since = 10


class ConvInteger(Node):
    """X [N, C, …], W [M, C/group, …], and the zero points of both."""

    inputs = (2, 4)
    since = 10
    attributes: ConvAttributes = ConvAttributes.defaults()


class QLinearConv(Node):
    """X, W and the result, each with its scale and its zero point, and a bias of integers."""

    inputs = (8, 9)
    since = 10
    attributes: ConvAttributes = ConvAttributes.defaults()


class QGemmAttributes(Attributes):
    """Attributes of QGemm: a factor, and which matrices are transposed."""

    alpha: float = 1.0
    transA: Literal[0, 1] = 0
    transB: Literal[0, 1] = 0


class QGemm(Node):
    """A and B with scale and zero point, a bias of integers, and scale and zero point of Y.

    Without those the result is of numbers.
    """

    domain: str = "com.microsoft"
    inputs = (6, 9)
    attributes: QGemmAttributes = QGemmAttributes.defaults()


@lifts(MatMulInteger)
def lift_matmul_integer(ctx: LiftingContext, node: MatMulInteger) -> None:
    """Lift MatMulInteger: neurons that sum products of integers."""
    tensors = Algebra(ctx, node)
    one, other = _less_zero(ctx, node, 0, 2, -2), _less_zero(ctx, node, 1, 3, -1)
    ctx.bind(node, matrix_product(ctx, node, tensors, one, other, ((0, 2), (1, 3))))


@lifts(QLinearMatMul)
def lift_qlinear_matmul(ctx: LiftingContext, node: QLinearMatMul) -> None:
    """Lift QLinearMatMul: neurons that sum products, then steps of the result."""
    tensors = Algebra(ctx, node)
    one, other = _less_zero(ctx, node, 0, 2, -2), _less_zero(ctx, node, 3, 5, -1)
    product = matrix_product(ctx, node, tensors, one, other, ((0, 2), (3, 5)))
    rank = len(product.shape)
    scales = [_scale(ctx, node, at, axis, rank) for at, axis in ((1, -2), (4, -1))]
    ctx.bind(node, _in_steps(ctx, node, product, tensors("mul", *scales), 6))


@lifts(ConvInteger)
def lift_conv_integer(ctx: LiftingContext, node: ConvInteger) -> None:
    """Lift ConvInteger: neurons that share the weights of a window."""
    signals = channels_and_space(ctx, node, ctx.as_value(node, _less_zero(ctx, node, 0, 2, 0)))
    kernel = _less_zero(ctx, node, 1, 3, 0)
    ctx.bind(node, convolved(ctx, node, signals, kernel, kernel_at=1))


@lifts(QLinearConv)
def lift_qlinear_conv(ctx: LiftingContext, node: QLinearConv) -> None:
    """Lift QLinearConv: neurons that share the weights of a window, then steps of the result."""
    signals = channels_and_space(ctx, node, ctx.as_value(node, _less_zero(ctx, node, 0, 2, 0)))
    kernel = _less_zero(ctx, node, 3, 5, 0)
    value = convolved(ctx, node, signals, kernel, kernel_at=3, bias_at=8)
    tensors, rank = Algebra(ctx, node), len(value.shape)
    factor = tensors("mul", *(_scale(ctx, node, at, 1, rank) for at in (1, 4)))
    ctx.bind(node, _in_steps(ctx, node, value.shared, factor, 6))


@lifts(QGemm)
def lift_qgemm(ctx: LiftingContext, node: QGemm) -> None:
    """Lift QGemm: neurons that sum products, then a factor or steps of the result."""
    given, tensors = node.attributes, Algebra(ctx, node)
    one = _less_zero(ctx, node, 0, 2, -2)
    other = _less_zero(ctx, node, 3, 5, 0 if given.transB else -1)
    if given.transA:
        ctx.refuse_batch(node)
        one = rearranged(one, np.transpose)
    if given.transB:
        other = rearranged(other, np.transpose)
    product = matrix_product(ctx, node, tensors, one, other, ((0, 2), (3, 5)))
    bias = tensors.optional(6)
    if bias is not None:
        product = tensors("add", product, bias)
    scales = [_scale(ctx, node, at, -1, len(product.shape)) for at in (1, 4)]
    factor = tensors("mul", float(np.float32(given.alpha)), tensors("mul", *scales))
    if ctx.optional(node, 7) is None:
        ctx.bind(node, tensors("mul", product, factor))
    else:
        ctx.bind(node, _in_steps(ctx, node, product, factor, 7))


def _less_zero(ctx: LiftingContext, node: Node, position: int, zero_at: int, axis: int) -> Operand:
    """The steps of an operand, its zero point taken off: one for all, or one along an axis."""
    tensors = Algebra(ctx, node)
    operand = tensors.input(position)
    zero = tensors.optional(zero_at)
    if zero is None or not (isinstance(zero, Value) or np.any(zero)):
        return operand
    along = rearranged(zero, lambda array: _along(array, axis, len(operand.shape)))
    return tensors("sub", operand, along if isinstance(along, Value) else _number(along))


def _along(values: Array, axis: int, rank: int) -> Array:
    """Values along one axis of a tensor of so many axes; a single one for all of it."""
    if values.size == 1:
        return values.reshape(())
    if values.ndim > 1:
        return values
    return values.reshape([-1 if k == axis % rank else 1 for k in range(rank)])


def _scale(ctx: LiftingContext, node: Node, position: int, axis: int, rank: int) -> Operand:
    """The scale of an operand: one for all, or one along an axis of a tensor of so many axes."""
    return rearranged(_of_all(ctx, node, position), lambda array: _along(array, axis, rank))


def _of_all(ctx: LiftingContext, node: Node, position: int) -> Operand:
    """A scale or a zero point, which may not be of samples."""
    operand = Algebra(ctx, node).input(position)
    if isinstance(operand, Value) and any(ctx.leading(node.input[position])):
        ctx.refuse_batch(node)
    return operand


def _number(values: Array) -> Array:
    return np.asarray(values, np.float64)


def _in_steps(
    ctx: LiftingContext, node: Node, product: Operand, factor: Operand, scale_at: int
) -> Operand:
    """A product of integers times a factor, in steps of the scale that the node reads there.

    The quotient of the scales is rounded to float32, as runtimes have it.
    """
    tensors = Algebra(ctx, node)
    scale, zero = (_of_all(ctx, node, position) for position in (scale_at, scale_at + 1))
    counts = [math.prod(each.shape) for each in (scale, zero)]
    if counts != [1, 1]:
        ctx.fail(node, f"its result has {counts[0]} scales, expected one")
    scale, zero = reshaped(scale, ()), reshaped(zero, ())
    low, high = range_of(ctx, node, scale_at + 1)
    quotient = _single(ctx, tensors("div", _single(ctx, factor), scale))
    scaled = tensors("mul", product, quotient)
    if isinstance(zero, Value):
        steps = tensors("add", tensors("round", scaled), zero)
        return tensors("clip", steps, float(low), float(high))
    return formula_of(ctx, scaled, quantized(1.0, int(zero), low, high))


def _single(ctx: LiftingContext, operand: Operand) -> Operand:
    """Numbers rounded to float32; those that neurons compute to as many digits."""
    if isinstance(operand, Value):
        return shared(formula_of(ctx, operand, SINGLE))
    return _number(operand.astype(np.float32))
