"""Weights in integers of 8 bits, with a scale for each neuron.

A DequantizeLinear gives the matrix back under its name, so the nodes that read it stay as they are,
in the bodies of loops too:

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

_MAX_INT8 = 127
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
        draft.nodes.append(_dequantized(draft, name, values, axis))
    return draft.finished([*draft.nodes, *model.graph.node]) if axes else model


def _weights(graph: Graph, draft: Draft) -> Iterator[tuple[str, int]]:
    """The initializers that are weights, each with the axis of its neurons; inner graphs too."""
    for node in graph.node:
        for position, axis in _ROWS.get(node.op_type, {}).items():
            name = node.input[position]
            if name in draft.tensors and draft.tensors[name].data_type is DataType.FLOAT:
                transposed = node.given_attributes.get("transB")
                yield name, 1 if node.op_type == "Gemm" and not transposed else axis
        for inner in subgraphs(node):
            yield from _weights(inner, draft)


def _dequantized(draft: Draft, name: str, values: Floats, axis: int) -> Node:
    """Add weights as int8 to a draft, and return the node that gives them back under their name."""
    others = tuple(k for k in range(values.ndim) if k != axis)
    size = np.max(np.abs(values), axis=others) / _MAX_INT8
    scale = np.where(size > _MIN_SCALE, size, 1.0).astype(np.float32).astype(np.float64)
    whole = np.rint(values / np.expand_dims(scale, others)).clip(-_MAX_INT8, _MAX_INT8)
    parts = []
    for stem, part, kind in (
        ("quantized", whole.astype(np.int64), DataType.INT8),
        ("scale", scale, DataType.FLOAT),
        ("zero", np.zeros(len(scale), np.int64), DataType.INT8),
    ):
        parts.append(draft.name(f"{name}_{stem}"))
        draft.tensors[parts[-1]] = Tensor.of(parts[-1], part, kind)
    label = f"dequantize_{name}"
    return draft.node("DequantizeLinear", parts, [name], name=label, axis=axis)
