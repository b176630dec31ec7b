"""The size of the batch: a shape may be made of it, a number may not.

A graph is lifted for a batch of one, whatever the batch will be. So a tensor of zeros that is made
in the size of the batch is right, as it is spread over the samples like any constant. A division by
the size of the batch is not: a sample's result would depend on how many samples there are.
"""

from collections.abc import Mapping

from neat_onnx.lifting.values import Operand, Value
from neat_onnx.model import Node


def follow_batch_size(node: Node, operands: Mapping[str, Operand], sizes: set[str]) -> str | None:
    """Follow tensors that hold the size of the batch through a node.

    Args:
        node: the node; `shape_inputs` of its class are the positions of shapes.
        operands: the tensors met so far.
        sizes: names of the tensors that hold the size of the batch; outputs are added.

    Returns:
        The name of an input that is such a size and meets values of the network; None if none does.
    """
    found = [k for k, name in enumerate(node.input) if name in sizes]
    if not found or set(found) <= node.shape_inputs:
        return None
    if any(isinstance(operands.get(name), Value) for name in node.input):
        return node.input[found[0]]
    sizes.update(node.output)
    return None
