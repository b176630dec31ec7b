"""Compute Constant nodes, and those that depend on constants alone, to initializers.

They are computed by the functions of the operators, which import runs on neurons. The sizes of a
tensor whose shape is fixed are constants as well.
"""

import warnings

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting.interpreter import Interpreter
from neat_onnx.lifting.operator import numbers_of
from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.model.budget import Budget
from neat_onnx.model.draft import Draft, copied
from neat_onnx.model.value import is_fixed
from neat_onnx.model.wiring import is_random, subgraphs

MAX_ELEMENTS = 1 << 22
"""The most elements that a node's result has to be computed."""
_KINDS = {kind.dtype: kind for kind in DataType}


def fold_constants(model: Model) -> Model:
    """The model with an initializer for each tensor that is constant.

    A graph output stays the result of a node, as a graph's outputs come from nodes.

    Raises:
        ModelError: a constant is text.
    """
    inputs = {entry.name for entry in model.graph.inputs}
    wanted = {entry.name for entry in model.graph.outputs}
    draft, interpreter, room = Draft(model), Interpreter(model), Budget()
    for node in model.graph.node:
        found = None
        if wanted.isdisjoint(node.output) and not subgraphs(node) and not is_random(node):
            found = _stated(node) or _computed(node, draft, inputs, interpreter)
        if found is None or sum(tensor.size for tensor in found) > MAX_ELEMENTS:
            draft.nodes.append(node)
            continue
        room.take("elements", sum(tensor.size for tensor in found), node.label)
        draft.tensors.update((tensor.name, tensor) for tensor in found)
    return model if len(draft.nodes) == len(model.graph.node) else draft.finished()


def _stated(node: Node) -> list[Tensor] | None:
    """The tensor that a Constant node holds."""
    if node.op_type != "Constant" or node.domain:
        return None
    name = node.output[0]
    for key, value in node.given_attributes.items():
        if key == "value":
            return [copied(value, name=name)]
        if key.startswith("value_float"):
            return [Tensor.of(name, value, DataType.FLOAT)]
        if key.startswith("value_int"):
            return [Tensor.of(name, np.asarray(value, np.int64), DataType.INT64)]
    raise ModelError(f"node {node.label}: its constant is no tensor of numbers")


def _computed(
    node: Node, draft: Draft, inputs: set[str], interpreter: Interpreter
) -> list[Tensor] | None:
    """The outputs of a node that reads initializers, or fixed sizes; None if it cannot be computed
    here.
    """
    read = [name for name in node.input if name]
    sizes = draft.facts(read[0]).shape if node.op_type == "Shape" and not node.domain else None
    if is_fixed(sizes):
        tensors = {read[0]: np.broadcast_to(0.0, sizes)}
    elif read and all(name in draft.tensors and name not in inputs for name in read):
        tensors = {name: numbers_of(draft.tensors[name]) for name in read}
    else:
        return None
    try:
        interpreter.check([node])
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of the mean of nothing
            interpreter.run_node(node, tensors)
        return [_tensor(name, tensors[name], node, draft) for name in node.output if name]
    except (ModelError, MemoryError):
        return None  # whoever loads the model says why


def _tensor(name: str, values: np.ndarray, node: Node, draft: Draft) -> Tensor:
    """A result as an initializer.

    Raises:
        ModelError: it has NaN in it, or is of no type that is known.
    """
    kinds = [draft.tensors[each].data_type for each in node.input if each in draft.tensors]
    floats = [kind for kind in kinds if kind.dtype.kind == "f"]
    kind = _KINDS.get(values.dtype)
    if values.dtype.kind == "f":
        kind = draft.facts(name).elem_type or (floats or [DataType.FLOAT])[0]
    if kind is None or np.isnan(values.astype(np.float64)).any():
        raise ModelError(f"node {node.label}: its result is no constant")
    return Tensor.of(name, values, kind, infinite=True)
