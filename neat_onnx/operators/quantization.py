"""QuantizeLinear and DequantizeLinear: numbers rounded to the steps of an integer type.

q = clip(round(z / scale) + zero, low, high)        z ≈ (q − zero) · scale
"""

from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Value, lifts
from neat_onnx.model import Attributes, DataType, Node
from neat_onnx.network.expression import VARIABLE, Expression, clip, rounded
from neat_onnx.operators.formula import formula_of


class QuantizeLinearAttributes(Attributes):
    """Attributes of QuantizeLinear: the axis of the scales; blocks are refused."""

    axis: int = 1
    block_size: Literal[0] = 0
    output_dtype: Literal[0] = 0
    saturate: Literal[0, 1] = 1
    precision: Literal[0] = 0


class QuantizeLinear(Node):
    """round(x / scale) + zero point, saturated to the range of the integer type."""

    inputs = (2, 3)
    since = 13
    attributes: QuantizeLinearAttributes = QuantizeLinearAttributes.defaults()


class DequantizeLinearAttributes(Attributes):
    """Attributes of DequantizeLinear: the axis of the scales; blocks are refused."""

    axis: int = 1
    block_size: Literal[0] = 0
    output_dtype: Literal[0] = 0


class DequantizeLinear(Node):
    """(x - zero point) · scale."""

    inputs = (2, 3)
    since = 13
    attributes: DequantizeLinearAttributes = DequantizeLinearAttributes.defaults()


_RANGES = {
    DataType.UINT8: (0, 255),
    DataType.INT8: (-128, 127),
    DataType.UINT16: (0, 65535),
    DataType.INT16: (-32768, 32767),
}


@lifts(QuantizeLinear)
def lift_quantize(ctx: LiftingContext, node: QuantizeLinear) -> None:
    """Numbers become steps; the type of the zero point says how many there are."""
    scale, zero = _step(ctx, node)
    low, high = _range(ctx, node)
    ctx.bind(node, formula_of(ctx, ctx.operand(node, 0), quantized(scale, zero, low, high)))


@lifts(DequantizeLinear)
def lift_dequantize(ctx: LiftingContext, node: DequantizeLinear) -> None:
    """Steps become numbers again."""
    operand = ctx.operand(node, 0)
    if isinstance(operand, Value):
        scale, zero = _step(ctx, node)
        ctx.bind(node, formula_of(ctx, operand, dequantized(scale, zero)))
        return
    scales, zeros = ctx.constant(node, 1), ctx.optional(node, 2)
    shape = [1] * operand.ndim
    if scales.size > 1:
        shape[node.attributes.axis] = -1
    start = 0 if zeros is None else np.asarray(zeros).reshape(shape)
    ctx.bind(node, (operand - start) * scales.reshape(shape))


def quantized(scale: float, zero: int, low: int, high: int) -> Expression:
    """Return the formula of QuantizeLinear."""
    steps = rounded(VARIABLE / scale)
    return clip(steps + float(zero) if zero else steps, float(low), float(high))


def dequantized(scale: float, zero: int) -> Expression:
    """Return the formula of DequantizeLinear."""
    return (VARIABLE - float(zero) if zero else VARIABLE) * scale


def _step(ctx: LiftingContext, node: Node) -> tuple[float, int]:
    """The scale and the zero point, one for all elements."""
    scale = ctx.constant(node, 1)
    zero = ctx.constant(node, 2) if len(node.input) > 2 and node.input[2] else np.zeros(1)
    if scale.size != 1 or zero.size != 1:
        ctx.fail(node, f"it has {scale.size} scales: computed values take one")
    return float(scale.flat[0]), int(zero.flat[0])


def _range(ctx: LiftingContext, node: Node) -> tuple[int, int]:
    """The smallest and the largest number of the type of the zero point, uint8 without one."""
    name = node.input[2] if len(node.input) > 2 else ""
    if not name:
        return _RANGES[DataType.UINT8]
    tensor = ctx.model.graph.tensors.get(name)
    if tensor is None or tensor.data_type not in _RANGES:
        ctx.fail(node, f"the type of '{name}' is not known, or none of 8 or 16 bits")
    return _RANGES[tensor.data_type]
