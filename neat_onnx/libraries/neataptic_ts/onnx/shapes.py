"""Shapes of tensors after the operators that NeatapticTS writes, without the batch axis.

An unknown or impossible shape is None; lifting such a node says where it is wrong.
"""

import math
from collections.abc import Mapping

from neat_onnx.errors import NetworkError
from neat_onnx.model import Graph, Node, Tensor
from neat_onnx.model.value import is_fixed
from neat_onnx.network.window import Sizes, Window
from neat_onnx.operators.export.layout.shaping import Concat, Flatten
from neat_onnx.operators.export.spatial.nodes import AveragePool, Conv, MaxPool
from neat_onnx.operators.export.sums.dense import Gemm

SLIDING = Conv | MaxPool | AveragePool
_ELEMENTWISE = frozenset(
    (
        *("Abs", "Add", "Elu", "Identity", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Sin"),
        *("Softplus", "Softsign", "Tanh"),
    )
)
MAX_ELEMENTS = 1 << 20
"""Most elements of a layer; a larger one has no shape."""


def input_shapes(graph: Graph) -> dict[str, Sizes]:
    """Return the fixed shapes of the graph's inputs, by name."""
    shapes = {}
    for entry in graph.inputs:
        sizes = (entry.shape or ())[1:]
        if sizes and is_fixed(sizes):
            shapes[entry.name] = sizes
    return shapes


def shape_after(
    node: Node, shapes: Mapping[str, Sizes], tensors: Mapping[str, Tensor]
) -> Sizes | None:
    """Return the shape of a node's first output, or None if it is unknown."""
    given = [shapes.get(name) for name in node.input]
    known = [shape for shape in given if shape is not None]
    if not known or given[0] is None:
        return None
    match node:
        case Gemm():
            return _columns(node, tensors)
        case Conv() | MaxPool() | AveragePool():
            return _positions(node, given[0], tensors)
        case Flatten() if node.attributes.axis == 1:
            return (math.prod(given[0]),)
        case Concat() if node.attributes.axis in (1, -1) and len(known) == len(given):
            flat = all(len(shape) == 1 for shape in known)
            return (sum(shape[0] for shape in known),) if flat else None
        case _ if node.op_type in _ELEMENTWISE and all(shape == given[0] for shape in given):
            return given[0]
    return None


def kernel_of(node: SLIDING, tensors: Mapping[str, Tensor]) -> Sizes | None:
    """Return the kernel of a node, or None if its weights are no initializer."""
    if not isinstance(node, Conv):
        return node.attributes.kernel_shape
    weights = tensors.get(node.input[1])
    return None if weights is None else weights.dims[2:]


def window_of(node: SLIDING, kernel: Sizes) -> Window | None:
    """Return the window of a node, or None if its attributes allow none."""
    if node.attributes.auto_pad != "NOTSET":
        return None
    try:
        return node.attributes.window(kernel)
    except NetworkError:
        return None


def _columns(node: Gemm, tensors: Mapping[str, Tensor]) -> Sizes | None:
    weights = tensors.get(node.input[1])
    if weights is None or len(weights.dims) != 2:
        return None
    return (weights.dims[0 if node.attributes.transB else 1],)


def _positions(node: SLIDING, given: Sizes, tensors: Mapping[str, Tensor]) -> Sizes | None:
    kernel = kernel_of(node, tensors)
    window = window_of(node, kernel) if kernel else None
    if window is None or len(given) != len(window.kernel) + 1:
        return None
    channels = given[0]
    if isinstance(node, Conv):
        channels, seen, *_ = tensors[node.input[1]].dims
        declared = node.attributes.kernel_shape
        if seen * node.attributes.group != given[0] or declared not in (None, kernel):
            return None
    shape = (channels, *window.positions(given[1:]))
    return shape if 0 < math.prod(shape) <= MAX_ELEMENTS else None
