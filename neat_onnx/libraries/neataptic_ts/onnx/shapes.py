"""Shapes of tensors after the operators that NeatapticTS writes, and windows of Conv and pools.

Shapes have no batch axis. One that is unknown or impossible is None; lifting such a node says where
it is wrong.
"""

import math
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from neat_onnx.errors import NetworkError
from neat_onnx.model import Graph, Node, Tensor
from neat_onnx.model.value import is_fixed
from neat_onnx.network.window import Sizes, Window
from neat_onnx.operators.export.nodes import AveragePool, Concat, Conv, Flatten, Gemm, MaxPool
from neat_onnx.options.mappings import Conv2DMapping, Pool2DMapping
from neat_onnx.parsing import ForeignDocument

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


ATTRIBUTES = ("kernel_shape", "strides", "pads")
"""The attributes of Conv and pools, in the order in which NeatapticTS writes them."""


class ConvInput(ForeignDocument):
    """An entry of `conv2d_specs`, read for the shape in which a Conv sees the layer before it."""

    layer_index: int = Field(alias="layerIndex")
    channels: int = Field(alias="inChannels", ge=1)
    rows: int = Field(alias="inHeight", ge=1)
    columns: int = Field(alias="inWidth", ge=1)

    @property
    def shape(self) -> Sizes:
        """Channels, rows, columns."""
        return self.channels, self.rows, self.columns


def attributes_of(mapping: Conv2DMapping | Pool2DMapping) -> dict[str, Any]:
    """Return the attributes of the node of a mapping."""
    window = mapping.window
    return dict(zip(ATTRIBUTES, (window.kernel, window.strides, window.pads), strict=True))


def spec_of(mapping: Conv2DMapping | Pool2DMapping) -> dict[str, Any]:
    """Return the metadata's spec of a mapping: the given keys, in the order they were given."""
    return mapping.model_dump(by_alias=True, exclude_unset=True)


def is_identity(window: Window) -> bool:
    """Whether a pool with this window returns its input."""
    return {*window.kernel, *window.strides} == {1} and not any(window.pads)


def is_padded_before(window: Window) -> bool:
    """Whether there is padding at the top or on the left.

    NeatapticTS takes the weights of a channel's first neuron for the kernel, from the first input
    on; with padding there, these are not the kernel.
    """
    return any(window.begin)
