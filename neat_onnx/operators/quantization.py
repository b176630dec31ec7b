"""Numbers rounded to the steps of an integer type: QuantizeLinear, DequantizeLinear and others.

q = clip(round(z / scale) + zero, low, high)        z ≈ (q − zero) · scale

An export writes such steps of 8 bits as QuantizeLinear: nodes of their own would be taken for
weights by an import.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.model import Attributes, DataType, Graph, Node
from neat_onnx.model.wiring import subgraphs
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    call,
    clip,
    constant,
    floor,
    log,
    power,
    rounded,
)
from neat_onnx.network.runtime_formulas import writable
from neat_onnx.operators.algebra import Algebra, reshaped, shared
from neat_onnx.operators.constants import Constant
from neat_onnx.operators.formulas.formula import (
    Emission,
    FormulaEmitter,
    emits,
    formula_of,
    shortens,
)
from neat_onnx.operators.formulas.logic import Cast


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


class DynamicQuantizeLinear(Node):
    """Steps of the range of all elements, which has 0 in it; the scale; the zero point."""

    outputs = (3, 3)
    since = 11


_MOST_BITS = 16
_DIGITS = 23  # of float32, binary, behind the first
_SMALLEST = 2.0**-96  # its last digit is no subnormal number, which processors take for 0
_EXPONENT = floor(log(call("abs", VARIABLE) + _SMALLEST) / math.log(2.0))
_UNIT = power(constant(2.0), _EXPONENT - float(_DIGITS))
SINGLE = rounded(VARIABLE / _UNIT) * _UNIT
"""A number rounded to the digits of float32."""

_MOST = 2.0**64  # a scale up to it, or down to its inverse, has products that float32 has

_RANGES = {kind: kind.limits for kind in DataType if kind.is_integer and kind.bits <= _MOST_BITS}


@lifts(QuantizeLinear)
def lift_quantize(ctx: LiftingContext, node: QuantizeLinear) -> None:
    """Numbers become steps; the type of the zero point says how many there are."""
    low, high = range_of(ctx, node, 2)
    divisor = ctx.operand(node, 1)
    if not isinstance(divisor, Value) and not np.all(divisor):
        ctx.fail(node, "its scale is 0, expected another number")
    if (step := _step(ctx, node)) is not None:
        operand = ctx.operand(node, 0)
        known = _known_steps(ctx, operand, step, (low, high))
        ctx.bind(node, known or formula_of(ctx, operand, quantized(*step, low, high)))
        return
    tensors = Algebra(ctx, node)
    x, scale, zero = tensors.input(0), _along(ctx, node, 1), _along(ctx, node, 2)
    steps = tensors("add", tensors("round", tensors("div", x, scale)), zero)
    ctx.bind(node, tensors("clip", steps, float(low), float(high)))


@lifts(DequantizeLinear)
def lift_dequantize(ctx: LiftingContext, node: DequantizeLinear) -> None:
    """Steps become numbers again."""
    operand = ctx.operand(node, 0)
    step = _step(ctx, node)
    if isinstance(operand, Value) and step is not None:
        ctx.bind(node, formula_of(ctx, operand, dequantized(*step)))
        return
    tensors = Algebra(ctx, node)
    less = tensors("sub", tensors.input(0), _along(ctx, node, 2))
    ctx.bind(node, tensors("mul", less, _along(ctx, node, 1)))


@lifts(DynamicQuantizeLinear)
def lift_dynamic_quantize(ctx: LiftingContext, node: DynamicQuantizeLinear) -> None:
    """Numbers become steps of a scale that neurons compute; it is 1 where all numbers are 0.

    Differences and quotients are rounded to float32, as in runtimes: many numbers are half-way
    between two steps otherwise, of a range from −1 to 1 the zero point itself.
    """
    tensors = Algebra(ctx, node)

    def single(primitive: str, one: Operand, other: Operand | float) -> Operand:
        return shared(formula_of(ctx, tensors(primitive, one, other), SINGLE))

    x, (low, high) = tensors.input(0), _RANGES[DataType.UINT8]
    axes = tuple(range(len(x.shape)))
    ctx.refuse_along(node, axes)
    least = tensors("minimum", tensors.reduced("min", x, axes, keepdims=False), 0.0)
    most = tensors("maximum", tensors.reduced("max", x, axes, keepdims=False), 0.0)
    spread = single("sub", most, least)
    flat = tensors("number", tensors("equal", spread, 0.0))
    scale = tensors("add", single("div", spread, float(high - low)), flat)
    zero = tensors("round", tensors("sub", float(low), single("div", least, scale)))
    steps = tensors("add", tensors("round", single("div", x, scale)), zero)
    ctx.integer.update((node.output[0], node.output[2]))
    ctx.bind(node, tensors("clip", steps, float(low), float(high)), scale, zero)


def quantized(scale: float, zero: int, low: int, high: int) -> Expression:
    """Return the formula of QuantizeLinear."""
    steps = rounded(VARIABLE if scale == 1.0 else VARIABLE / scale)
    return clip(steps + float(zero) if zero else steps, float(low), float(high))


def dequantized(scale: float, zero: int) -> Expression:
    """Return the formula of DequantizeLinear."""
    return (VARIABLE - float(zero) if zero else VARIABLE) * scale


def _step(ctx: LiftingContext, node: Node) -> tuple[float, int] | None:
    """The scale and the zero point, if they are constant, and one for all elements."""
    scale, zero = ctx.operand(node, 1), ctx.optional(node, 2)
    zero = np.zeros(1) if zero is None else zero
    if isinstance(scale, Value) or isinstance(zero, Value) or scale.size != 1 or zero.size != 1:
        return None
    return float(scale.flat[0]), int(zero.flat[0])


def _known_steps(
    ctx: LiftingContext, operand: Operand, step: tuple[float, int], limits: tuple[int, int]
) -> Value | None:
    """The steps that an operand's numbers are of, if they have this scale and zero point.

    The numbers divided by the scale are the steps but for a rounding of float32.
    """
    scale, zero = step
    if not isinstance(operand, Value) or operand.reduced or not _MOST**-1 <= abs(scale) <= _MOST:
        return None
    formula = steps = operand.formula
    if scale != 1.0 and steps.op == "mul":
        steps = steps.args[1]
    if zero and steps.op == "sub":
        steps = steps.args[0]
    numbers = writable(dequantized(scale, zero), ctx.data_type.dtype)
    is_known = _are_integers(steps, *limits) and numbers.substitute(steps) == formula
    return replace(operand, formula=steps) if is_known else None


def _are_integers(formula: Expression, low: int, high: int) -> bool:
    """Whether a formula is `quantized`, and its range within this one."""
    parts = _of_steps(formula)
    if parts is None or not all(each.value.is_integer() for each in parts[1:]):
        return False
    _, _, least, most = parts
    return low <= least.value and most.value <= high


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


def _along(ctx: LiftingContext, node: QuantizeLinear | DequantizeLinear, position: int) -> Operand:
    """Scales or zero points, along their axis of the first input; 0 where they are left out."""
    found = ctx.optional(node, position)
    if found is None:
        return np.zeros(())
    if not isinstance(found, Value):
        found = found.astype(np.float64)
    if not found.shape or found.shape == (1,):
        return reshaped(found, ())
    shape, axis = ctx.operand(node, 0).shape, node.attributes.axis
    rank = len(shape)
    if (block := node.attributes.block_size) > 0 and -rank <= axis < rank:
        axis %= rank
        sizes = (*shape[:axis], -(-shape[axis] // block), *shape[axis + 1 :])
        if isinstance(found, Value) or found.shape != sizes:
            ctx.fail(node, f"its scales are computed, or not of the shape {list(sizes)}")
        return np.repeat(found, block, axis).take(np.arange(shape[axis]), axis)
    if len(found.shape) != 1 or not -rank <= axis < rank:
        ctx.fail(node, f"its scales have the shape {list(found.shape)}, its axis is {axis}")
    return reshaped(found, tuple(-1 if k == axis % rank else 1 for k in range(rank)))


def range_of(ctx: LiftingContext, node: Node, position: int) -> tuple[int, int]:
    """The smallest and the largest number of the type of the zero point, uint8 without one.

    Raises:
        ModelError: the type of the input at this position is not known, or is none of these.
    """
    name = node.input[position] if len(node.input) > position else ""
    if not name:
        return _RANGES[DataType.UINT8]
    known = next(_types_of(ctx.model.graph, name), None)
    if known not in _RANGES:
        ctx.fail(node, f"the type of '{name}' is not known, or none of 4, 8 or 16 bits")
    return _RANGES[known]


def _types_of(graph: Graph, name: str) -> Iterator[DataType]:
    """The type of a zero point, in a graph or one inside of its nodes: that of a constant or an
    input, or of a computed one, which a Cast or a DynamicQuantizeLinear gives.
    """
    if name in graph.tensors:
        yield graph.tensors[name].data_type
    yield from (entry.elem_type for entry in graph.inputs if entry.name == name)
    for node in graph.node:
        if name in node.output:
            match node:
                case DynamicQuantizeLinear():
                    yield DataType.UINT8
                case Cast():
                    yield DataType(node.attributes.to)
                case Constant():
                    yield node.attributes.value.data_type
        for inner in subgraphs(node):
            yield from _types_of(inner, name)


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
