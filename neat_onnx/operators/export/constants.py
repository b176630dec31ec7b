"""Constant, ConstantOfShape and Shape: tensors that do not depend on the values of the inputs."""

from neat_onnx.model import Attributes, Node, Tensor


class ConstantAttributes(Attributes):
    """Attributes of Constant: the tensor."""

    value: Tensor


class Constant(Node):
    """A tensor that stands in the node."""

    inputs = (0, 0)
    since = 13
    attributes: ConstantAttributes


class ShapeAttributes(Attributes):
    """Attributes of Shape: the axes from `start` to before `end`."""

    start: int = 0
    end: int | None = None


class Shape(Node):
    """The sizes of axes, integers."""

    since = 13
    attributes: ShapeAttributes = ShapeAttributes.defaults()
