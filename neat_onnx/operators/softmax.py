"""Softmax, LogSoftmax and Hardmax, and CumSum: operators along one axis."""

from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.operators.algebra import Algebra, reshaped

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


class CumSumAttributes(Attributes):
    """Attributes of CumSum: whether an element counts itself, and the direction."""

    exclusive: Literal[0, 1] = 0
    reverse: Literal[0, 1] = 0


class CumSum(Node):
    """The sums of the elements up to each, along a constant axis."""

    inputs = (2, 2)
    since = 11
    attributes: CumSumAttributes = CumSumAttributes.defaults()


@lifts(Softmax, LogSoftmax)
def lift_softmax(ctx: LiftingContext, node: _AlongAxis) -> None:
    """The largest is taken out before the exponential, so that it does not overflow."""
    tensors = Algebra(ctx, node)
    x, axes = tensors.input(0), _axes(ctx, node)
    less = tensors("sub", x, tensors.reduced("max", x, axes))
    spread = tensors("exp", less)
    total = tensors.reduced("sum", spread, axes)
    if node.op_type == "LogSoftmax":
        ctx.bind(node, tensors("sub", less, tensors("log", total)))
    else:
        ctx.bind(node, tensors("div", spread, total))


@lifts(Hardmax)
def lift_hardmax(ctx: LiftingContext, node: Hardmax) -> None:
    """1 for the first of the largest: minus the largest before it, it is still above 0."""
    tensors = Algebra(ctx, node)
    x, axes = tensors.input(0), _axes(ctx, node)
    top = tensors.reduced("max", x, axes)
    hits = tensors("number", tensors("equal", x, top))
    shape = hits.shape
    if len(axes) > 1:  # the last ones
        hits = reshaped(hits, (*shape[: axes[0]], -1))
    size = hits.shape[axes[0]]
    first = tensors.along(hits, axes[0], np.eye(size) - np.tri(size, k=-1))
    ctx.bind(node, reshaped(tensors("number", tensors("greater", first, 0.5)), shape))


@lifts(CumSum)
def lift_cumsum(ctx: LiftingContext, node: CumSum) -> None:
    """Lift CumSum: a sum neuron for each element."""
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    (axis,) = ctx.integers(node, 1)
    axis = _checked(ctx, node, axis, len(x.shape))
    size = x.shape[axis]
    matrix = np.tri(size, k=-1 if node.attributes.exclusive else 0)
    ctx.bind(node, tensors.along(x, axis, matrix.T if node.attributes.reverse else matrix))


def _axes(ctx: LiftingContext, node: _AlongAxis) -> tuple[int, ...]:
    rank = len(ctx.operand(node, 0).shape)
    axis = node.attributes.axis
    if ctx.model.opset >= _ONE_AXIS_SINCE:
        return (_checked(ctx, node, -1 if axis is None else axis, rank),)
    first = _checked(ctx, node, 1 if axis is None else axis, rank)
    return tuple(range(first, rank))


def _checked(ctx: LiftingContext, node: Node, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        ctx.fail(node, f"its axis is {axis}, and its input has {rank}")
    ctx.refuse_batch(node, [axis % rank])
    return axis % rank
