"""Compute nodes that depend on constants alone: their results become initializers.

Each node is computed by onnx's reference evaluator, of operators that are deterministic and whose
results have a bound before they are computed (see `element_counts`). One of an old opset is
computed in its modern form, since the evaluator ignores attributes that old forms have. FLOAT is
computed in float32, as a runtime would: a node that reads a FLOAT with more bits than that is left
alone. A type that numpy lacks is computed in one that holds its numbers, and rounded.
"""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.model.budget import Budget
from neat_onnx.model.draft import MODERN, Draft
from neat_onnx.passes.element_counts import count_rule
from neat_onnx.passes.modern_forms import modern_node

Array = npt.NDArray[Any]

_KINDS = {kind.dtype: kind for kind in DataType if not kind.is_held_wider}
MAX_ELEMENTS = 1 << 22
"""The most elements that a node's result has to be computed."""


def fold_constants(model: Model, budget: Budget | None = None) -> Model:
    """The model with an initializer for each tensor that is constant.

    A graph output stays the result of a node, as a graph's outputs come from nodes.
    """
    graph = model.graph
    constant = set(graph.tensors) - {entry.name for entry in graph.inputs}
    wanted = {entry.name for entry in graph.outputs}
    draft, room = Draft(model), budget or Budget()
    for node in graph.node:
        if may_fold(node, constant, wanted):
            results = computed(node, draft, room)
            if results is not None:
                draft.tensors.update((tensor.name, tensor) for tensor in results)
                constant.update(tensor.name for tensor in results)
                continue
        draft.nodes.append(node)
    return model if len(draft.nodes) == len(graph.node) else draft.finished()


def may_fold(node: Node, constant: set[str], wanted: set[str]) -> bool:
    """Whether a node that reads constants alone is to be one, of those that are computed."""
    return (
        count_rule(node) is not None
        and all(name in constant for name in node.input if name)
        and not any(name in wanted for name in node.output)
    )


def computed(node: Node, draft: Draft, budget: Budget) -> list[Tensor] | None:
    """The outputs of a node whose inputs are initializers; None if it cannot be computed here.

    Args:
        node: a node of any operator.
        draft: has the initializers.
        budget: pays for the elements of the outputs.
    """
    try:
        modern = [node] if draft.model.opset >= MODERN else modern_node(node, draft)
    except ModelError:
        return None  # it has no modern form: whoever brings the model to one says so
    for each in modern:
        results = _results(each, draft, budget)
        if results is None:
            return None
        draft.tensors |= {tensor.name: tensor for tensor in results}
    return [draft.tensors[name] for name in node.output if name]


def _results(node: Node, draft: Draft, budget: Budget) -> list[Tensor] | None:
    """The outputs of a node in its modern form."""
    rule = count_rule(node)
    if rule is None:
        return None
    operands = [_array(draft.tensors[name]) if name else None for name in node.input]
    if any(operand is None for operand, name in zip(operands, node.input, strict=True) if name):
        return None
    try:
        size = rule(node, operands)
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError):
        return None  # its inputs do not fit, or are left out: whoever loads the model says so
    if size > MAX_ELEMENTS or not budget.allows("elements", size):
        return None
    wider = _held_wider(node, draft)
    if wider and node.op_type == "Cast":
        node = draft.node("Cast", node.input, node.output, to=int(DataType.FLOAT))
    arrays = _evaluated(node, operands)
    if arrays is None:
        return None
    budget.take("elements", size, node.label)
    return [
        _tensor(name, array, wider.get(array.dtype))
        for name, array in zip(node.output, arrays, strict=True)
        if name
    ]


def _held_wider(node: Node, draft: Draft) -> dict[np.dtype[Any], DataType]:
    """The types of results that numpy lacks, by the types that hold them."""
    kinds = [draft.tensors[name].data_type for name in node.input if name]
    if node.op_type == "Cast":
        kinds = [DataType(node.given_attributes["to"])]
    elif node.op_type in ("CastLike", "DequantizeLinear"):
        kinds = kinds[1:2]
    return {kind.dtype: kind for kind in kinds if kind.is_held_wider}


def _array(tensor: Tensor) -> Array | None:
    """The values as a runtime holds them; None if it would round."""
    with np.errstate(over="ignore"):
        array: Array = tensor.values.astype(tensor.data_type.dtype)
    if tensor.data_type is DataType.FLOAT and not np.array_equal(array, tensor.values):
        return None
    return array


def _evaluated(node: Node, operands: list[Array | None]) -> list[Array] | None:
    """The reference evaluator's result for a node; None if it fails or has NaN in it.

    It takes a node alone as one of the newest opset, which has the modern forms too.
    """
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415 - slow to import

    from neat_onnx.model.proto import node_to_proto  # noqa: PLC0415 - slow to import

    feed = {name: operand for name, operand in zip(node.input, operands, strict=True) if name}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # numpy's, on the mean of no elements
            results = ReferenceEvaluator(node_to_proto(node)).run(None, feed)
    except Exception:  # noqa: BLE001 - its operators raise anything; then the node stays
        return None
    arrays = [np.asarray(result) for result in results]
    fine = all(array.dtype in _KINDS and not np.isnan(array).any() for array in arrays)
    return arrays if fine and len(arrays) == len(node.output) else None


def _tensor(name: str, array: Array, wider: DataType | None) -> Tensor:
    if wider is not None:
        array = Tensor.of(name, array, wider, infinite=True).as_written
    return Tensor.of(name, array, wider or _KINDS[array.dtype], infinite=True)
