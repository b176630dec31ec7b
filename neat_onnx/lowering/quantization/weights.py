"""Weights as int8: a scale for each neuron, and a DequantizeLinear that gives the matrix back.

The matrix keeps its name, so the nodes that read it stay as they are, in the bodies of loops too:

    W0 ≈ W0_scale[row] · W0_quantized,    W0_scale[row] = max |W0[row]| / 127
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from neat_onnx.model import DataType, Graph, Model, Node, Tensor
from neat_onnx.model.draft import Draft
from neat_onnx.model.wiring import names_read, subgraphs

Floats = npt.NDArray[np.float64]

MAX_INT8 = 127
_MIN_SCALE = float(np.finfo(np.float32).tiny)
_ROWS = {"Gemm": {1: 0}, "Conv": {1: 0}, "RNN": dict.fromkeys((1, 2), 1)}
_ROWS |= dict.fromkeys(("GRU", "LSTM"), _ROWS["RNN"])
"""For each operator, the inputs that are weights, and the axis of them that is the neuron."""


def quantize_weights(model: Model) -> Model:
    """The model with the weights of its Gemm, Conv, RNN, GRU and LSTM nodes in int8.

    A tensor that is read as anything else besides, or along another axis, stays as it is.
    """
    draft = Draft(model)
    as_weights = Counter(_weights(model.graph, draft))
    reads = Counter(names_read(model.graph))
    axes = {name: axis for (name, axis), count in as_weights.items() if count == reads[name]}
    for name, axis in axes.items():
        values = draft.tensors.pop(name).values
        scale = scales(values, axis)
        draft.nodes.append(dequantized(draft, name, values, scale, axis))
    return draft.finished([*draft.nodes, *model.graph.node]) if axes else model


def _weights(graph: Graph, draft: Draft) -> Iterator[tuple[str, int]]:
    """The initializers that are weights, each with the axis of its neurons; inner graphs too."""
    for node in graph.node:
        for position, axis in _ROWS.get(node.op_type, {}).items():
            name = node.input[position]
            if name in draft.tensors and draft.tensors[name].data_type is DataType.FLOAT:
                yield name, _column(node) if node.op_type == "Gemm" else axis
        for inner in subgraphs(node):
            yield from _weights(inner, draft)


def _column(gemm: Node) -> int:
    """The axis of a Gemm's weights that its output has."""
    given = gemm.given_attributes
    return 0 if given.get("transB") else 1


def scales(values: Floats, axis: int, least: Floats | float = 0.0) -> Floats:
    """Return the step of int8 along an axis, in float32; 1 for zeros.

    Args:
        least: the scales are at least this.
    """
    others = tuple(k for k in range(values.ndim) if k != axis)
    size = np.maximum(np.max(np.abs(values), axis=others) / MAX_INT8, least)
    return np.where(size > _MIN_SCALE, size, 1.0).astype(np.float32).astype(np.float64)


def dequantized(draft: Draft, name: str, values: Floats, scale: Floats, axis: int) -> Node:
    """Add weights as int8 to a draft, and return the node that gives them back under their name."""
    shape = [-1 if k == axis else 1 for k in range(values.ndim)]
    whole = np.clip(np.rint(values / scale.reshape(shape)), -MAX_INT8, MAX_INT8)
    parts = [
        constant(draft, f"{name}_quantized", whole, DataType.INT8),
        constant(draft, f"{name}_scale", scale, DataType.FLOAT),
        constant(draft, f"{name}_zero", np.zeros(len(scale)), DataType.INT8),
    ]
    label = draft.node_name(f"dequantize_{name}")
    return draft.node("DequantizeLinear", parts, [name], name=label, axis=axis)


def constant(draft: Draft, wish: str, values: npt.ArrayLike, data_type: DataType) -> str:
    """Add an initializer to a draft and return its name."""
    name = draft.name(wish)
    kind = np.int64 if data_type.is_integer else np.float64
    draft.tensors[name] = Tensor.of(name, np.asarray(values, kind), data_type)
    return name
