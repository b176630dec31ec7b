"""Softmax, LogSoftmax, ReduceLogSumExp and Hardmax."""

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.network.genes import Floats
from neat_onnx.operators.algebra import Algebra, reshaped
from neat_onnx.operators.formulas.infinite import MaskedRows
from neat_onnx.operators.formulas.not_finite import lowered, special
from neat_onnx.operators.inner_tensors import bind_with_parts
from neat_onnx.operators.layout.arranging import axis_of
from neat_onnx.operators.reductions.reduce import ReduceLogSumExp, reduced_axes
from neat_onnx.operators.rows.selection import first_hit, hits_of

_ONE_AXIS_SINCE = 13


class SoftmaxAttributes(Attributes):
    """Attributes of Softmax, LogSoftmax and Hardmax: the axis."""

    axis: int | None = None


class _AlongAxis(Node, abstract=True):
    """From opset 13 along one axis, the last by default.

    Before, along all axes from one on, the second by default.
    """

    attributes: SoftmaxAttributes = SoftmaxAttributes.defaults()


class Softmax(_AlongAxis):
    """exp(x) / sum(exp(x))."""


class LogSoftmax(_AlongAxis):
    """log(exp(x) / sum(exp(x)))."""


class Hardmax(_AlongAxis):
    """1 at the first of the largest elements, 0 elsewhere."""

    exact = True


@lifts(Softmax, LogSoftmax)
def lift_softmax(ctx: LiftingContext, node: _AlongAxis) -> None:
    """The largest is taken out before the exponential, so that it does not overflow."""
    tensors = Algebra(ctx, node)
    x, axes = tensors.input(0), _axes(ctx, node)
    absent, least = special(ctx, x), ctx.facts[node.input[0]].above_masked
    if absent is not None and isinstance(x, Value):
        if least is None or not np.all(absent <= 0.0):
            _lift_present(ctx, node, x, absent, axes)
            return
        x = lowered(ctx, x, absent, 2.0 * least)
    less, parts = _spread(tensors, x, axes, least)
    if least is not None and isinstance(parts["spread"], Value):
        ctx.vanishing.append(parts["spread"].signals.ravel())
    if node.op_type == "Softmax":
        if axes == (len(x.shape) - 1,):
            ctx.facts[node.output[0]].adds_up_to_one = True
        bind_with_parts(ctx, node, _softmax(tensors, parts), parts)
        return
    scale = tensors("log", parts.pop("total"))
    parts |= {"less": less, "scale": scale}
    bind_with_parts(ctx, node, tensors("sub", less, scale), parts)


def softmax_of(ctx: LiftingContext, node: Node, x: Operand, axes: tuple[int, ...]) -> Operand:
    """The softmax along some axes, inside of another operator: neurons that come back as one."""
    tensors = Algebra(ctx, node)
    _, parts = _spread(tensors, x, axes)
    softmax = _softmax(tensors, parts)
    if not isinstance(softmax, Value):
        return softmax
    for part in parts.values():
        ctx.materialize(ctx.as_value(node, part))
    return Value(ctx.materialize(ctx.as_signals(softmax)))


def _spread(
    tensors: Algebra, x: Operand, axes: tuple[int, ...], least: float | None = None
) -> tuple[Operand, dict[str, Operand]]:
    """x less its largest element, and the parts up to the sum of the exponentials.

    The largest counts as `least` where it is less: then all are masked, and it is NaN.
    """
    largest = tensors.reduced("max", x, axes)
    if least is not None:
        largest = tensors("maximum", largest, least)
    less = tensors("sub", x, largest)
    spread = tensors("exp", less)
    if least is not None:
        spread = tensors.activations(spread)  # of a row of one as well
    total = tensors.reduced("sum", spread, axes)
    return less, {"largest": largest, "spread": spread, "total": total}


def _softmax(tensors: Algebra, parts: dict[str, Operand]) -> Operand:
    """The result; adds the reciprocal of the sum to the parts."""
    parts["scale"] = tensors("reciprocal", parts["total"])
    return tensors("mul", parts["spread"], parts["scale"])


def _lift_present(
    ctx: LiftingContext, node: Node, x: Value, elements: Floats, axes: tuple[int, ...]
) -> None:
    """Bind the softmax where some elements are −∞, and take no part, of which it is 0.

    Where all along the axes are, it is NaN.
    """
    rows = MaskedRows(ctx, node, x, elements, axes)
    tensors = Algebra(ctx, node)
    largest = rows.reduced("max", rows.present)
    less = tensors("sub", rows.present, rows.repeated(largest))
    spread = tensors("exp", less)
    total = rows.reduced("sum", spread)
    parts = {"largest": largest, "spread": spread}
    if node.op_type == "LogSoftmax":
        parts |= {"less": less, "scale": tensors("log", total)}
        result, nothing = tensors("sub", less, rows.repeated(parts["scale"])), -np.inf
    else:
        parts |= {"total": total, "scale": tensors("reciprocal", total)}
        result, nothing = tensors("mul", spread, rows.repeated(parts["scale"])), 0.0
    bind_with_parts(ctx, node, rows.filled(result, nothing, np.nan), parts)


@lifts(ReduceLogSumExp)
def lift_log_sum_exp(ctx: LiftingContext, node: ReduceLogSumExp) -> None:
    """The largest is taken out before the exponential, so that it does not overflow."""
    if ctx.has_integers(node):
        hint = "Cast its input to FLOAT before it"
        ctx.fail(node, "runtimes round exponentials of integers in different places", hint)
    axes, tensors = reduced_axes(ctx, node) or (), Algebra(ctx, node)
    x = tensors.input(0)
    largest = tensors.reduced("max", x, axes)
    spread = tensors("exp", tensors("sub", x, largest))
    keep = bool(node.attributes.keepdims)
    scale = tensors("log", tensors.reduced("sum", spread, axes, keepdims=keep))
    result = tensors("add", scale, reshaped(largest, scale.shape))
    bind_with_parts(ctx, node, result, {"largest": largest, "spread": spread, "scale": scale})


@lifts(Hardmax)
def lift_hardmax(ctx: LiftingContext, node: Hardmax) -> None:
    """1 for the first of the largest: minus the largest before it, it is still above 0."""
    tensors = Algebra(ctx, node)
    x, axes = tensors.input(0), _axes(ctx, node)
    top, hits = hits_of(tensors, x, axes)
    shape = hits.shape
    if len(axes) > 1:  # the last ones
        hits = reshaped(hits, (*shape[: axes[0]], -1))
    first = reshaped(first_hit(tensors, hits, axes[0]), shape)
    bind_with_parts(ctx, node, first, {"largest": top, "hits": hits})


def _axes(ctx: LiftingContext, node: _AlongAxis) -> tuple[int, ...]:
    rank = len(ctx.operand(node, 0).shape)
    axis = node.attributes.axis
    if ctx.model.opset >= _ONE_AXIS_SINCE:
        found = axis_of(ctx, node, -1 if axis is None else axis, rank)
        if isinstance(ctx.operand(node, 0), Value):
            ctx.refuse_share(node, found)
        return (found,)
    first = axis_of(ctx, node, 1 if axis is None else axis, rank)
    return tuple(range(first, rank))
