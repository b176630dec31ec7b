"""The declarations that elementwise operators have in common."""

from neat_onnx.model import Node


class Unary(Node, abstract=True):
    """A function of each element."""

    since = 13


class Binary(Node, abstract=True):
    """A function of two elements, with broadcasting."""

    inputs = (2, 2)
    since = 13
