"""Softmax, LogSoftmax, ReduceLogSumExp and Hardmax."""

from neat_onnx.model import Attributes, Node


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
