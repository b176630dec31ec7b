"""Export with weights in integers of 8 bits, with a scale for each neuron.

A DequantizeLinear gives the matrix back under its name, so the nodes that read it stay as they are,
in the bodies of loops too:

    W0 ≈ W0_scale[row] · W0_quantized,    W0_scale[row] = max |W0[row]| / 127

The written model computes something else than the network, so the genome stays out of its metadata:
an import gives the graph's own function.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from neat_onnx.errors import OptionError
from neat_onnx.genome.document import GENOME
from neat_onnx.lowering.core import export_network
from neat_onnx.lowering.profile import in_profile
from neat_onnx.model import DataType, Graph, Model, Node, Tensor
from neat_onnx.model.draft import Draft
from neat_onnx.model.wiring import names_read, subgraphs
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions

_OPSET = 19  # the first whose DequantizeLinear onnx's reference evaluator computes
_MAX_INT8 = 127
_MIN_SCALE = float(np.finfo(np.float32).tiny)
_ROWS = {"Gemm": {1: 0}, "Conv": {1: 0}, "RNN": dict.fromkeys((1, 2), 1)}
_ROWS |= dict.fromkeys(("GRU", "LSTM"), _ROWS["RNN"])
"""For each operator, the inputs that are weights, and the axis of them that is the neuron."""


def export_quantized(net: Network, options: ExportOptions) -> Model:
    """Return the ONNX model of a network in int8. See `neat_onnx.export`.

    Raises:
        OptionError: an option that does not go with int8.
    """
    for wrong, message, where in (
        (options.dtype != "float32", "int8 is for float32", "dtype"),
        (options.dialect != "standard", "the neataptic dialect has no int8", "dialect"),
        (
            options.embed_network,
            "an embedded network would not be what int8 computes",
            "embed_network",
        ),
    ):
        if wrong:
            raise OptionError(message, where=where, hint=f"Leave {where} out, or quantize")
    changes: dict[str, Any] = {"sequence": options.sequence}
    if "opset" not in options.model_fields_set:
        changes["opset"] = _OPSET
    model = export_network(net, options.model_copy(update=changes))
    kept = [entry for entry in model.metadata_props if entry.key != GENOME]
    model = model.model_copy(update={"metadata_props": kept})
    return in_profile(quantize_weights(model), options)


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
