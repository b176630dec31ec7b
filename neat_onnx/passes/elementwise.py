"""Nodes that treat each element alike, whatever the axes it stands in, and nodes that move it."""

from neat_onnx.model import Node
from neat_onnx.model.node import operator_of
from neat_onnx.model.open_node import OpenNode

MOVING = frozenset(
    {"Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose"}
    | {"Unsqueeze"}
)
"""Operators whose results have elements of their first input, and no others."""


def is_elementwise(node: Node) -> bool:
    """Whether an element of the result is a function of one element of each input."""
    return operator_of(node).elementwise and not (isinstance(node, OpenNode) and node.problem)


def is_function_of_one(node: Node) -> bool:
    """Whether a node is elementwise, of an operator that has one input."""
    return is_elementwise(node) and operator_of(node).inputs == (1, 1)
