<<<<<<< HEAD
"""QuantizeLinear and DequantizeLinear: numbers rounded to the steps of an integer type.

q = clip(round(z / scale) + zero, low, high)        z ≈ (q − zero) · scale
=======
"""QuantizeLinear, DequantizeLinear and MatMulInteger: integers as numbers that neurons carry.

Rounding is to the nearest integer, halves to even; what a type cannot hold saturates.
>>>>>>> 4ce72d7 (Elements that move, places in an order, ai.onnx.ml's linear models and trees, quantized tensors: operators that import lacked)
"""

from typing import Literal

import numpy as np

<<<<<<< HEAD
from neat_onnx.lifting.context import LiftingContext, Value, lifts
from neat_onnx.model import Attributes, DataType, Node
from neat_onnx.network.expression import VARIABLE, Expression, clip, rounded
from neat_onnx.operators.formula import formula_of
=======
from neat_onnx.lifting.context import Array, LiftingContext, Operand, lifts
from neat_onnx.model import Attributes, DataType, Node
from neat_onnx.network.expression import VARIABLE, clip
from neat_onnx.operators.algebra import Algebra
from neat_onnx.operators.formula import formula_of
from neat_onnx.operators.products import matrix_product

_BOUNDS = {
    DataType.UINT8: (0, 255),
    DataType.INT8: (-128, 127),
    DataType.UINT16: (0, 65535),
    DataType.INT16: (-32768, 32767),
}
>>>>>>> 4ce72d7 (Elements that move, places in an order, ai.onnx.ml's linear models and trees, quantized tensors: operators that import lacked)


class QuantizeLinearAttributes(Attributes):
    axis: int = 1
    block_size: Literal[0] = 0
<<<<<<< HEAD
    output_dtype: Literal[0] = 0
    saturate: Literal[0, 1] = 1
    precision: Literal[0] = 0


class QuantizeLinear(Node):
=======
    output_dtype: Literal[0, 2, 3, 4, 5] = 0
    saturate: Literal[1] = 1


class QuantizeLinear(Node):
    """X, the scale, the zero point, whose type the result has."""

>>>>>>> 4ce72d7 (Elements that move, places in an order, ai.onnx.ml's linear models and trees, quantized tensors: operators that import lacked)
    inputs = (2, 3)
    since = 13
    attributes: QuantizeLinearAttributes = QuantizeLinearAttributes.defaults()


class DequantizeLinearAttributes(Attributes):
    axis: int = 1
    block_size: Literal[0] = 0
<<<<<<< HEAD
    output_dtype: Literal[0] = 0


class DequantizeLinear(Node):
=======


class DequantizeLinear(Node):
    """(X - zero point) · scale."""

>>>>>>> 4ce72d7 (Elements that move, places in an order, ai.onnx.ml's linear models and trees, quantized tensors: operators that import lacked)
    inputs = (2, 3)
    since = 13
    attributes: DequantizeLinearAttributes = DequantizeLinearAttributes.defaults()


<<<<<<< HEAD
_RANGES = {
    DataType.UINT8: (0, 255),
    DataType.INT8: (-128, 127),
    DataType.UINT16: (0, 65535),
    DataType.INT16: (-32768, 32767),
}
=======
class MatMulInteger(Node):
    """(A - its zero point) × (B - its zero point)."""

    inputs = (2, 4)
    since = 10
>>>>>>> 4ce72d7 (Elements that move, places in an order, ai.onnx.ml's linear models and trees, quantized tensors: operators that import lacked)


@lifts(QuantizeLinear)
def lift_quantize(ctx: LiftingContext, node: QuantizeLinear) -> None:
<<<<<<< HEAD
    """Numbers become steps; the type of the zero point says how many there are."""
    scale, zero = _step(ctx, node)
    low, high = _range(ctx, node)
    ctx.bind(node, formula_of(ctx, ctx.operand(node, 0), quantized(scale, zero, low, high)))
=======
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    scale, zero = _parameters(ctx, node, x)
    whole = tensors("round", tensors("div", x, scale))
    shifted = tensors("add", whole, zero) if np.any(zero) else whole
    low, high = _BOUNDS[_result_type(ctx, node)]
    ctx.bind(node, formula_of(ctx, shifted, clip(VARIABLE, low, high)))
    ctx.integer.add(node.output[0])


def _result_type(ctx: LiftingContext, node: QuantizeLinear) -> DataType:
    """The type of the zero point, or the one that is asked for, or UINT8."""
    asked = node.attributes.output_dtype
    found = DataType(asked) if asked else DataType.UINT8
    if len(node.input) > 2 and node.input[2]:
        tensor = ctx.model.graph.tensors.get(node.input[2])
        if tensor is None:
            ctx.fail(node, "its zero point has to be an initializer")
        found = tensor.data_type
    if found not in _BOUNDS or (asked and found != asked):
        ctx.fail(node, f"it makes {found.name}, expected {', '.join(k.name for k in _BOUNDS)}")
    return found
>>>>>>> 4ce72d7 (Elements that move, places in an order, ai.onnx.ml's linear models and trees, quantized tensors: operators that import lacked)


@lifts(DequantizeLinear)
def lift_dequantize(ctx: LiftingContext, node: DequantizeLinear) -> None:
<<<<<<< HEAD
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
=======
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    scale, zero = _parameters(ctx, node, x)
    centred = tensors("sub", x, zero) if np.any(zero) else x
    ctx.bind(node, tensors("mul", centred, scale))
    ctx.integer.discard(node.output[0])


def _parameters(
    ctx: LiftingContext, node: QuantizeLinear | DequantizeLinear, x: Operand
) -> tuple[Array, Array]:
    """The scale and the zero point, each one number or one for each place along the axis."""
    scale = ctx.constant(node, 1)
    zero = np.zeros(()) if ctx.optional(node, 2) is None else ctx.constant(node, 2)
    if scale.size == 1 and zero.size == 1:
        return scale.reshape(()), zero.reshape(()).astype(np.float64)
    rank, axis = len(x.shape), node.attributes.axis
    if not -rank <= axis < rank or scale.shape != (x.shape[axis],):
        ctx.fail(node, f"axis is {axis}, and {scale.size} scales do not fit {list(x.shape)}")
    shape = tuple(-1 if k == axis % rank else 1 for k in range(rank))
    zeros = np.broadcast_to(zero, scale.shape).astype(np.float64)
    return scale.reshape(shape), zeros.reshape(shape)


@lifts(MatMulInteger)
def lift_matmul_integer(ctx: LiftingContext, node: MatMulInteger) -> None:
    tensors = Algebra(ctx, node)
    one, other = (
        _centred(ctx, node, tensors, position, axis) for position, axis in ((0, -2), (1, -1))
    )
    ctx.bind(node, matrix_product(ctx, node, tensors, one, other))
    ctx.integer.add(node.output[0])


def _centred(
    ctx: LiftingContext, node: Node, tensors: Algebra, position: int, axis: int
) -> Operand:
    """An operand without its zero point: one number, or one for each row of A, column of B."""
    found = tensors.input(position)
    if ctx.optional(node, position + 2) is None:
        return found
    zero = ctx.constant(node, position + 2).astype(np.float64)
    if zero.size == 1:
        zero = zero.reshape(())
    elif zero.ndim == 1 and axis == -2:
        zero = zero[:, None]
    return tensors("sub", found, zero)
>>>>>>> 4ce72d7 (Elements that move, places in an order, ai.onnx.ml's linear models and trees, quantized tensors: operators that import lacked)
