"""CumSum and CumProd: running sums and products along one axis."""

from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Value, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.operators.algebra import Algebra
from neat_onnx.operators.layout.arranging import axis_of


class RunningAttributes(Attributes):
    """Attributes of CumSum and CumProd: whether an element counts itself, and the direction."""

    exclusive: Literal[0, 1] = 0
    reverse: Literal[0, 1] = 0


class _Running(Node, abstract=True):
    inputs = (2, 2)
    attributes: RunningAttributes = RunningAttributes.defaults()


class CumSum(_Running):
    """The sums of the elements up to each, along a constant axis."""

    since = 11


class CumProd(_Running):
    """The products of the elements up to each, along a constant axis."""

    since = 26


@lifts(CumSum, CumProd)
def lift_running(ctx: LiftingContext, node: _Running) -> None:
    """Lift CumSum and CumProd: a neuron for each element, which reads the elements before it."""
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    axis = axis_of(ctx, node, ctx.integer_of(node, 1), len(x.shape))
    matrix = tensors.triangle(x.shape[axis], -1 if node.attributes.exclusive else 0)
    matrix = matrix.T if node.attributes.reverse else matrix
    aggregation = "sum" if node.op_type == "CumSum" else "product"
    found = tensors.along(x, axis, matrix, aggregation)
    if not isinstance(x, Value) and not isinstance(found, Value) and x.dtype.kind == "i":
        found = found.astype(np.int64)
    ctx.bind(node, found)
