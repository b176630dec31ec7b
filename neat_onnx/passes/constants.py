"""Constants are initializers: Constant nodes become some, and weights among the inputs are some."""

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.model.draft import Draft, copied

_FLOATS, _INTS = ("value_float", "value_floats"), ("value_int", "value_ints")


def constant_nodes(model: Model) -> Model:
    """The model with an initializer for each Constant node of its graph.

    One that a graph output names stays, as a graph's outputs come from nodes.

    Raises:
        ModelError: a constant is text.
    """
    if not any(node.op_type == "Constant" for node in model.graph.node):
        return model
    wanted = {entry.name for entry in model.graph.outputs}
    draft = Draft(model)
    for node in model.graph.node:
        if node.op_type != "Constant" or node.domain:
            draft.nodes.append(node)
            continue
        (name,) = node.output
        tensor = constant_tensor(node)
        if name not in wanted:
            draft.tensors[name] = tensor
        elif "value" in node.given_attributes:
            draft.nodes.append(node)
        else:
            value = tensor.model_copy(update={"name": ""})
            draft.nodes.append(draft.node("Constant", [], [name], name=node.name, value=value))
    if len(draft.nodes) == len(model.graph.node) and draft.nodes == model.graph.node:
        return model
    return draft.finished()


def constant_tensor(node: Node) -> Tensor:
    """The tensor that a Constant node gives, called as its output is.

    Raises:
        ModelError: it is text, or not given.
    """
    name = node.output[0]
    for key, value in node.given_attributes.items():
        if key == "value":
            tensor: Tensor = value
            return copied(tensor, name=name)
        if key in _FLOATS:
            return Tensor.of(name, value, DataType.FLOAT)
        if key in _INTS:
            return Tensor.of(name, np.asarray(value, np.int64), DataType.INT64)
    raise ModelError(f"node {node.label}: its constant is no tensor of numbers")
