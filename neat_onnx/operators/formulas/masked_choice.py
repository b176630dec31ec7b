"""A choice between numbers and infinities: the −∞ of a mask, which takes elements out of a softmax.

Where a computed mask is for a softmax or for places alone, a low number does the same. Elsewhere
the neurons give −∞, as the logarithm of 0: x · keep + log(keep), where keep is 1 or 0.
"""

from collections.abc import Callable, Sequence

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value
from neat_onnx.model import DataType, Node
from neat_onnx.network.expression import VARIABLE, log
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.operators.formulas.arithmetic import neurons_of
from neat_onnx.operators.formulas.formula import formula_of
from neat_onnx.operators.formulas.not_finite import filled, with_special

_HANDING_ON = frozenset((
    "Add", "Expand", "Identity", "ReduceMax", "Reshape", "Squeeze", "Transpose", "Unsqueeze",
    "Where",
))  # fmt: skip
_COMPARING = frozenset({"ArgMax", "Softmax"})
_FLOATING = (DataType.FLOAT, DataType.FLOAT16, DataType.DOUBLE, DataType.BFLOAT16)
_LOWEST, _LOWEST_HALF = -(2.0**125), -(2.0**15)  # several of them may be added

Applied = Callable[[Sequence[Operand]], Operand]


def chosen_of(
    ctx: LiftingContext,
    node: Node,
    truth: Operand,
    finite: Sequence[Operand],
    elements: Sequence[Floats],
    applied: Applied,
) -> Operand:
    """A choice between two operands.

    Args:
        ctx: the import.
        node: the node that chooses.
        truth: true where the first one is chosen.
        finite: both, with 0 in place of elements that are not finite.
        elements: these, the others being 0.
        applied: the choice of finite operands.

    Raises:
        ModelError: a computed condition may choose NaN.
    """
    if isinstance(truth, Value):
        low = _low_number(ctx, node, elements)
        if low is None:
            return _with_infinities(ctx, node, truth, finite, elements, applied)
        return applied([truth, *(filled(ctx, each, at, low)
                                 for each, at in zip(finite, elements, strict=True))])  # fmt: skip
    chosen = np.asarray(truth, np.bool_)
    signals: list[Ints] = [ctx.materialize(ctx.as_value(node, each)) for each in finite]
    result = np.where(chosen, *signals)
    return with_special(ctx, node, Value(result), np.where(chosen, *elements))


def _with_infinities(
    ctx: LiftingContext,
    node: Node,
    truth: Value,
    finite: Sequence[Operand],
    elements: Sequence[Floats],
    applied: Applied,
) -> Operand:
    """The choice of finite operands, plus or minus the logarithm of 0 where it is an infinity."""
    if any(np.any(np.isnan(each)) for each in elements):
        ctx.fail(node, "a value that it may leave out is NaN")
    result = ctx.as_value(node, applied([truth, *finite]))
    for infinity, sign in ((-np.inf, 1.0), (np.inf, -1.0)):
        stays = [np.where(each == infinity, 0.0, 1.0) for each in elements]
        if all(np.all(each) for each in stays):
            continue
        kept = Value(ctx.materialize(ctx.as_value(node, applied([truth, *stays]))))
        nothing = ctx.as_value(node, formula_of(ctx, kept, log(VARIABLE)))
        result = neurons_of(ctx, node, [result, nothing], "sum", (1.0, sign))
    return result


def _low_number(ctx: LiftingContext, node: Node, elements: Sequence[Floats]) -> float | None:
    """A number so low that it takes elements out of a softmax or an ArgMax, as −∞ does.

    None if something else reads it, or another number than −∞ is not finite.
    """
    readers, tensors = ctx.wiring.readers_past(node.output[0], lambda each: _hands_on(ctx, each))
    known = not any(map(ctx.wiring.is_output, tensors))
    known = known and all(_compares(ctx, each, tensors) for each in readers)
    if not known or any(np.any((each != 0) & (each != -np.inf)) for each in elements):
        return None
    low = _LOWEST_HALF if ctx.data_type is DataType.FLOAT16 else _LOWEST
    for name in tensors:
        ctx.facts[name].above_masked = low / 2
    return low


def _hands_on(ctx: LiftingContext, node: Node) -> bool:
    """Whether a node keeps low numbers low: it moves, adds, compares or chooses them, or multiplies
    by 1.
    """
    if node.op_type == "Cast":
        return getattr(node.attributes, "to", None) in _FLOATING
    if node.op_type == "Mul":
        return any(_is_all(ctx, name, 1.0) for name in node.input)
    return node.op_type in _HANDING_ON


def _compares(ctx: LiftingContext, node: Node, low: set[str]) -> bool:
    """Whether a node only asks which elements are low: for softmax, a place, or for all."""
    if node.op_type == "CastLike":  # it asks for the type
        return node.input[0] not in low
    if node.op_type == "Equal":
        return any(_is_all(ctx, name, -np.inf) for name in node.input)
    return node.op_type in _COMPARING


def _is_all(ctx: LiftingContext, name: str, number: float) -> bool:
    """Whether a tensor is constant, with this number as all of its elements."""
    if name not in ctx.operands:  # of a node that is lifted later
        made = ctx.wiring.node_giving(name)
        if made is None or made.op_type != "CastLike":
            return False
        return _is_all(ctx, made.input[0], number)
    found = ctx.operands[name]
    return not isinstance(found, Value) and bool(np.all(found == number))
