"""The sizes of time and the batch: a shape may be made of them, a number may not.

A graph is lifted for a batch of one, whatever the batch will be. So a tensor of zeros that is made
in the size of the batch is right, as it is spread over the samples like any constant. A division by
the size of the batch is not: a sample's result would depend on how many samples there are.
"""

from collections.abc import Mapping

import numpy as np

from neat_onnx.lifting.values import Operand, Value
from neat_onnx.model import Node
from neat_onnx.network.genes import Ints
from neat_onnx.passes.elementwise import is_elementwise


def misused_size(
    node: Node, operands: Mapping[str, Operand], sizes: Mapping[str, Ints]
) -> str | None:
    """An input that holds the size of the batch and meets values of the network.

    Args:
        node: the node; `shape_inputs` of its class are the positions of shapes.
        operands: the tensors met so far.
        sizes: tensors that hold the size of time or the batch, and which of their elements do.

    Returns:
        Its name; None if there is none.
    """
    if not _reads_size(node, sizes):
        return None
    if any(isinstance(operands.get(name), Value) for name in node.input):
        return next(name for name in node.input if name in sizes)
    return None


def follow_batch_size(node: Node, operands: Mapping[str, Operand], sizes: dict[str, Ints]) -> None:
    """Add the outputs of a node that has been lifted; it may have added them by itself."""
    if _reads_size(node, sizes):
        for name in node.output:
            if name not in sizes and name in operands:
                sizes[name] = _elements_of(node, operands[name].shape, sizes)
    for name in node.output:
        if name in sizes and not sizes[name].any():
            del sizes[name]


def _reads_size(node: Node, sizes: Mapping[str, Ints]) -> bool:
    found = {k for k, name in enumerate(node.input) if name in sizes}
    return not found <= node.shape_inputs


def _elements_of(node: Node, shape: tuple[int, ...], sizes: Mapping[str, Ints]) -> Ints:
    """Which elements of an output hold such sizes: all, unless it is elementwise."""
    found = [sizes[name] for name in node.input if name in sizes]
    if is_elementwise(node) and all(each.shape == shape for each in found):
        held: Ints = np.bitwise_or.reduce(found)
        return held
    return np.full(shape, np.bitwise_or.reduce([each.max(initial=0) for each in found]))
