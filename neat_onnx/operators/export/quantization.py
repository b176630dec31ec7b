"""Numbers rounded to the steps of an integer type: QuantizeLinear, DequantizeLinear and others.

q = clip(round(z / scale) + zero, low, high)        z ≈ (q − zero) · scale

An export writes such steps of 8 bits as QuantizeLinear: nodes of their own would be taken for
weights by an import.
"""

from typing import Literal

import numpy as np

from neat_onnx.model import Attributes, DataType, Node
from neat_onnx.network.expression import (
    Expression,
    constant,
)
from neat_onnx.operators.export.formulas.formula import (
    Emission,
    FormulaEmitter,
    emits,
    shortens,
)
from neat_onnx.operators.export.formulas.logic import Cast


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
    """Attributes of DequantizeLinear: the axis of the scales, each of one element or of a block."""

    axis: int = 1
    block_size: int = 0
    output_dtype: Literal[0] = 0


class DequantizeLinear(Node):
    """(x - zero point) · scale."""

    inputs = (2, 3)
    since = 13
    attributes: DequantizeLinearAttributes = DequantizeLinearAttributes.defaults()


_MOST_BITS = 16


_RANGES = {kind: kind.limits for kind in DataType if kind.is_integer and kind.bits <= _MOST_BITS}


def _of_steps(formula: Expression) -> tuple[Expression, Expression, Expression, Expression] | None:
    """The number that is rounded, the zero point, and the limits, of clip(round(z) + zero, …)."""
    if formula.op != "clip" or not all(each.is_constant for each in formula.args[1:]):
        return None
    inner, zero = formula.args[0], constant(0.0)
    if inner.op == "add":
        zero, inner = inner.args
    if inner.op != "round" or not zero.is_constant:
        return None
    return inner.args[0], zero, formula.args[1], formula.args[2]


# --- lowering ------------------------------------------------------------------------------------

_STEPS = "steps"  # of x: the scale, the zero point, and the least and the largest step
_TYPES = {_RANGES[each]: each for each in (DataType.UINT8, DataType.INT8)}


@shortens(QuantizeLinear.since, DataType.FLOAT)
def in_steps(part: Expression) -> Expression | None:
    """The steps of an integer of 8 bits, if a part of a formula is their number."""
    parts = _of_steps(part)
    if parts is None or parts[0].op != "div":
        return None
    quotient, *others = parts
    x, scale = quotient.args
    step = scale, *others
    if x.is_constant or not _is_step(*(each.value for each in step if each.is_constant)):
        return None
    return Expression(_STEPS, (x, *step))


def _is_step(*numbers: float) -> bool:
    """Whether these are the scale, zero point and range of an integer type, as a node has them."""
    if len(numbers) < 4 or numbers[2:] not in _TYPES:
        return False
    scale, zero, low, high = numbers
    least, most = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
    is_held = least <= scale <= most and float(np.float32(scale)) == scale
    return is_held and low <= zero <= high and zero == int(zero)


@emits(_STEPS)
def emit_steps(emitter: FormulaEmitter, part: Expression) -> Emission:
    """QuantizeLinear, and a Cast to numbers that any function may read."""
    x, scale, zero, low, high = part.args
    ctx, kind = emitter.ctx, _TYPES[int(low.value), int(high.value)]
    name = f"zero_{int(zero.value)}_{kind.name.lower()}"
    point = ctx.once(name, lambda: ctx.initializer(name, np.int64(zero.value), kind))
    inputs = [emitter.operand(x), emitter.operand(scale), point]
    steps = emitter.wished(QuantizeLinear, inputs, "_quantized")
    return Emission(Cast, [steps], {"to": int(ctx.data_type)})
