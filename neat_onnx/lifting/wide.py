"""A copy of a model whose numbers are float64, so that rounding hides no difference."""

from typing import Any

import numpy as np


def widened(proto: Any) -> Any:
    """The model with DOUBLE for FLOAT, FLOAT16 and BFLOAT16, wherever a type stands."""
    import onnx  # noqa: PLC0415 - slow to import

    kinds = onnx.TensorProto
    narrow = {kinds.FLOAT, kinds.FLOAT16, kinds.BFLOAT16}
    wide = type(proto)()
    wide.CopyFrom(proto)

    def of_entry(entry: Any) -> None:
        if entry.type.tensor_type.elem_type in narrow:
            entry.type.tensor_type.elem_type = kinds.DOUBLE

    def of_tensor(tensor: Any) -> None:
        if tensor.data_type in narrow:
            values = onnx.numpy_helper.to_array(tensor).astype(np.float64)
            tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))

    def of_nodes(nodes: Any) -> None:
        for node in nodes:
            for entry in node.attribute:
                if entry.name in ("to", "dtype") and entry.i in narrow:
                    entry.i = kinds.DOUBLE
                if entry.HasField("t"):
                    of_tensor(entry.t)
                if entry.HasField("g"):
                    of_graph(entry.g)
            if node.op_type == "Constant":
                _constant(node, onnx)

    def of_graph(graph: Any) -> None:
        for entry in (*graph.input, *graph.output, *graph.value_info):
            of_entry(entry)
        for tensor in graph.initializer:
            of_tensor(tensor)
        of_nodes(graph.node)

    of_graph(wide.graph)
    for function in wide.functions:
        of_nodes(function.node)
    return wide


def _constant(node: Any, onnx: Any) -> None:
    """Give a Constant of floats a tensor of float64."""
    for entry in node.attribute:
        if entry.name in ("value_float", "value_floats"):
            found = entry.f if entry.name == "value_float" else list(entry.floats)
            tensor = onnx.numpy_helper.from_array(np.array(found, np.float64))
            entry.CopyFrom(onnx.helper.make_attribute("value", tensor))
