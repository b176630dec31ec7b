"""Nodes that treat each element alike, whatever the axes that it stands in."""

from neat_onnx.model import Node
from neat_onnx.model.node import operator_of
from neat_onnx.model.open_node import OpenNode


def is_elementwise(node: Node) -> bool:
    """Whether an element of the result is a function of one element of each input."""
    return operator_of(node).elementwise and not (isinstance(node, OpenNode) and node.problem)


def is_function_of_one(node: Node) -> bool:
    """Whether a node is elementwise, of an operator that has one input."""
    return is_elementwise(node) and operator_of(node).inputs == (1, 1)
