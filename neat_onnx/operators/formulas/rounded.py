"""Quotients that are rounded or compared, where the last digit decides: floor(49 / 49) is 1.

Other quotients by constants are weights, as 1/49, and 49 · (1/49) is just below 1.
"""

import math

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Operand, Value
from neat_onnx.model import DataType, Node
from neat_onnx.network.expression import VARIABLE, call, constant
from neat_onnx.operators.formulas.formula import formula_of

_ROUND = ("Floor", "Ceil", "Round", "Sign")
_COMPARE = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_HAND_ON = ("Abs", "Neg")
_SHIFT = ("Add", "Sub")
_COMBINE = ("Sub", "Mul")
_HALF = 0.5


def rounded_quotient(
    ctx: LiftingContext, node: Node, dividend: Operand, divisor: Operand
) -> Operand | None:
    """The quotient as a formula, if all its readers round it, or compare it with a number.

    None for any other quotient, and where the divisor has an exact reciprocal or differs from
    element to element.
    """
    if not isinstance(dividend, Value) or isinstance(divisor, Value) or dividend.reduced:
        return None
    number = _single(divisor)
    if not number or not math.isfinite(number) or abs(math.frexp(number)[0]) == _HALF:
        return None
    if ctx.broadcast(node, dividend.shape, divisor.shape) != dividend.shape:
        return None
    if not _is_rounded(ctx, node.output[0]):
        return None
    return formula_of(ctx, dividend, call("div", VARIABLE, constant(number)))


def _is_rounded(ctx: LiftingContext, name: str) -> bool:
    """Whether all readers of a tensor round it or compare it, with a sign or a shift before.

    One may take the rounded tensor from it, which leaves the fraction, or multiply by the sign.
    """
    readers, tensors = ctx.wiring.readers_past(name, lambda each: _is_shift(ctx, each))
    known = {*_HAND_ON, *_SHIFT, *(each.op_type for each in readers)}
    inside = all(
        ctx.wiring.operators_reading(each) <= known and not ctx.wiring.is_output(each)
        for each in tensors
    )
    exact = [each for each in readers if _is_exact(ctx, each)]
    both = tensors.union(*(each.output for each in exact))
    combined = [each for each in readers if each.op_type in _COMBINE and both >= {*each.input}]
    return inside and bool(exact) and all(each in exact or each in combined for each in readers)


def _is_shift(ctx: LiftingContext, node: Node) -> bool:
    by_number = node.op_type in _SHIFT and _has_number(ctx, node)
    return by_number or node.op_type in _HAND_ON


def _is_exact(ctx: LiftingContext, node: Node) -> bool:
    """Whether a node rounds its input, or compares it with one number."""
    if node.op_type == "Cast":
        return DataType(getattr(node.attributes, "to", 1)).is_integer
    return node.op_type in _ROUND or (node.op_type in _COMPARE and _has_number(ctx, node))


def _has_number(ctx: LiftingContext, node: Node) -> bool:
    """Whether an input of a node is one constant number."""
    operands = [ctx.operands.get(name) for name in node.input]
    return any(isinstance(each, np.ndarray) and _single(each) is not None for each in operands)


def _single(numbers: Array) -> float | None:
    """The number that all elements of a constant are."""
    same = numbers.size and np.all(numbers == numbers.flat[0])
    return float(numbers.flat[0]) if same else None
