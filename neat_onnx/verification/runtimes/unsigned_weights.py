"""Weights of int8 as uint8, for products that are exact on every processor.

ONNX Runtime adds up products of uint8 and int8 in 16 bits on x86 processors without VNNI, where
they saturate; of uint8 and uint8 it does not. The weights and their zero point, both 128 more, are
the same numbers.
"""

import numpy as np

from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.model.draft import with_graph

_PLACES = {  # of the zero point of the data, of the weights, and of their zero point
    "MatMulInteger": (2, 1, 3),
    "ConvInteger": (2, 1, 3),
    "QLinearMatMul": (2, 3, 5),
    "QLinearConv": (2, 3, 5),
    "QGemm": (2, 3, 5),
}
_SHIFT = 128


def unsigned_weights(model: Model) -> Model:
    """The model whose integer products with constant weights have those in uint8."""
    given = model.graph.tensors
    made: dict[str, Tensor] = {}
    nodes = [_unsigned(node, given, made) for node in model.graph.node]
    if not made:
        return model
    initializers = [*model.graph.initializer, *made.values()]
    return with_graph(model, node=nodes, initializer=initializers)


def _unsigned(node: Node, given: dict[str, Tensor], made: dict[str, Tensor]) -> Node:
    """The node reading shifted weights, which are added to `made`; itself where it cannot."""
    places = _PLACES.get(node.op_type)
    if places is None:
        return node
    reads = [*node.input, *[""] * (max(places) + 1 - len(node.input))]
    data, weights, zero = (given.get(reads[place]) for place in places)
    if data is None or data.data_type is not DataType.UINT8 or (reads[places[2]] and zero is None):
        return node
    if weights is None or weights.data_type is not DataType.INT8:
        return node
    for place, tensor in ((places[1], weights), (places[2], zero)):
        reads[place] = _shifted(tensor, made)
    return node.model_copy(update={"input": reads})


def _shifted(tensor: Tensor | None, made: dict[str, Tensor]) -> str:
    """The name of the tensor that is 128 more, in uint8; that of 128 for none."""
    name = f"{tensor.name if tensor is not None else ''} + {_SHIFT}"
    if name not in made:
        values = np.int64(_SHIFT) + (tensor.values if tensor is not None else np.int64(0))
        made[name] = Tensor.of(name, values, DataType.UINT8)
    return name
