"""Operators that ONNX itself defines by others, put in place of those that nothing else handles."""

from collections.abc import Callable
from typing import Any

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Model, Node, ValueInfo
from neat_onnx.model.budget import Budget
from neat_onnx.model.graph import ONNX_DOMAINS
from neat_onnx.model.draft import copied

_MAX_ROUNDS = 8
_RANDOM = frozenset({"Bernoulli"})


def function_bodies(model: Model, is_known: Callable[[Node], bool]) -> Model:
    """The model with nodes that are not known replaced by their operators' function bodies.

    Args:
        model: the model; it stays as it is where ONNX has no function body.
        is_known: whether a node is to be left as it is.

    Returns:
        A model of the same opset.

    Raises:
        ModelError: there would be too many nodes.
    """
    tried: set[str] = set()
    for _ in range(_MAX_ROUNDS):
        unknown = {
            node.op_type
            for node in model.graph.node
            if node.domain in ONNX_DOMAINS and not is_known(node)
        }
        wanted = sorted(name for name in unknown - tried if _has_body(name))
        if not wanted:
            return model
        tried.update(wanted)
        for op_type in wanted:
            model = _inlined(model, op_type)
    return model


def _has_body(op_type: str) -> bool:
    from onnx import defs  # noqa: PLC0415 - slow to import

    if op_type in _RANDOM or not defs.has(op_type):
        return False
    schema: Any = defs.get_schema(op_type)
    return bool(schema.has_function or schema.has_context_dependent_function)


def _inlined(model: Model, op_type: str) -> Model:
    """The model with the function bodies of an operator; itself if it has none that is usable."""
    from onnx.inliner import inline_selected_functions  # noqa: PLC0415 - seldom needed
    from onnx.shape_inference import InferenceError  # noqa: PLC0415 - seldom needed

    from neat_onnx.model.proto import value_to_proto  # noqa: PLC0415 - onnx is slow to import

    try:
        proto = model.to_proto()
        for tensor in model.graph.initializer:  # the inliner looks for no types elsewhere
            entry = ValueInfo.of(tensor.name, tensor.data_type, tensor.dims)
            proto.graph.value_info.append(value_to_proto(entry))
        left_out = proto.graph.value_info.add()  # the inliner asks for the types of these, too
        left_out.type.tensor_type.elem_type = DataType.FLOAT
        whole = Model.from_proto(
            inline_selected_functions(proto, [("", op_type)], inline_schema_functions=True)
        )
    except (InferenceError, ModelError, RuntimeError, ValueError):
        return model  # a body of types or forms that no model here has
    Budget().take("nodes", len(whole.graph.node))
    exact = model.graph.tensors  # FLOAT was rounded on the way
    tensors = [exact.get(tensor.name, tensor) for tensor in whole.graph.initializer]
    return copied(model, graph=copied(whole.graph, initializer=tensors))
