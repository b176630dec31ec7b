"""Models whose inputs and outputs have any type and shape."""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node

from neat_onnx import Model, Network, import_model, load_model


def model_of(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, tuple[int, list[Any]]],
    outputs: dict[str, tuple[int, list[Any]]],
    **constants: Any,
) -> Model:
    tensors = [
        numpy_helper.from_array(
            np.asarray(value, np.int64 if np.asarray(value).dtype.kind == "i" else np.float32), name
        )
        for name, value in constants.items()
    ]
    entries = [
        [helper.make_tensor_value_info(name, kind, sizes) for name, (kind, sizes) in each.items()]
        for each in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "graph", *entries, tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return load_model(made.SerializeToString())


def ends(model: Model) -> list[tuple[str, str, list[Any]]]:
    entries = (*model.graph.inputs, *model.graph.outputs)
    return [(each.name, each.elem_type.name, list(each.shape or ())) for each in entries]


def counter() -> Network:
    """A network that gives its integers plus one."""
    nodes = [node("Add", "x one", "y")]
    kind = TensorProto.INT64
    return import_model(model_of(nodes, {"x": (kind, ["N", 2])}, {"y": (kind, ["N", 2])}, one=[1]))


def without_hints(net: Network) -> str:
    """The network as JSON, without hints at operators, which are of the graph that was read."""
    return net.without_source().to_json()
