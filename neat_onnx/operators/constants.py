"""Constant, ConstantOfShape and Shape: tensors that do not depend on the values of the inputs."""

import math

import numpy as np

from neat_onnx.lifting.context import LiftingContext, lifts
from neat_onnx.lifting.followed_axes import FIRST, OF_FIRST, OF_SECOND, SECOND
from neat_onnx.model import Attributes, Node, Tensor


class ConstantAttributes(Attributes):
    """Attributes of Constant: the tensor."""

    value: Tensor


class Constant(Node):
    """A tensor that stands in the node."""

    inputs = (0, 0)
    since = 13
    attributes: ConstantAttributes


class ConstantOfShapeAttributes(Attributes):
    """Attributes of ConstantOfShape: a tensor of one element, 0 if None."""

    value: Tensor | None = None


class ConstantOfShape(Node):
    """One value in each element of a constant shape."""

    since = 9
    shape_inputs = frozenset({0})
    exact = True
    attributes: ConstantOfShapeAttributes = ConstantOfShapeAttributes.defaults()


class ShapeAttributes(Attributes):
    """Attributes of Shape: the axes from `start` to before `end`."""

    start: int = 0
    end: int | None = None


class Shape(Node):
    """The sizes of axes, integers."""

    since = 13
    exact = True
    attributes: ShapeAttributes = ShapeAttributes.defaults()


@lifts(Constant)
def lift_constant(ctx: LiftingContext, node: Constant) -> None:
    """Lift Constant: its output is its tensor."""
    ctx.bind(node, node.attributes.value.values)


@lifts(ConstantOfShape)
def lift_constant_of_shape(ctx: LiftingContext, node: ConstantOfShape) -> None:
    """Make the constant that every sample reads, in the size of a batch of one."""
    sizes, value = ctx.integers(node, 0), node.attributes.value
    if min(sizes, default=1) < 0:
        ctx.fail(node, f"the shape {sizes} has a negative size")
    ctx.check_size(node, math.prod(sizes))
    filled = np.zeros(1, np.float32) if value is None else value.values.reshape(-1)
    ctx.bind(node, np.full(sizes, filled[0], filled.dtype))


_OF_AXIS = {FIRST: OF_FIRST, SECOND: OF_SECOND}


@lifts(Shape)
def lift_shape(ctx: LiftingContext, node: Shape) -> None:
    """Take the length 1 for time and the batch, and follow it to where it is used."""
    operand, given = ctx.operand(node, 0), node.attributes
    asked = slice(given.start, given.end)
    name = node.input[0]
    kinds = [
        _OF_AXIS.get(axis, OF_FIRST | OF_SECOND) if ctx.is_batch(name, at) else 0
        for at, axis in enumerate(ctx.followed.of(name))
    ]
    if any(kinds[asked]) and not ctx.features_only:
        ctx.sizes[node.output[0]] = np.array(kinds)[asked]
    ctx.bind(node, np.array(operand.shape, np.int64)[asked])
