"""Models that compute with integers alone: none of their numbers is rounded."""

from neat_onnx.model import Model, Node
from neat_onnx.model.data_type import DataType
from neat_onnx.model.node import operator_of
from neat_onnx.model.wiring import subgraphs
from neat_onnx.passes.draft import Draft

_CASTS = ("Cast", "CastLike")


def computes_integers(model: Model) -> bool:
    """Whether all inputs are integers or truth values, and floats are only made of them, or chosen.

    Such numbers are the same in every runtime, and in a network as far as float64 holds them.
    """
    kinds = [entry.elem_type for entry in model.graph.inputs]
    if not kinds or not all(map(_is_exact, kinds)):
        return False
    draft = Draft(model)
    return not any(subgraphs(node) or _computes_floats(node, draft) for node in model.graph.node)


def _computes_floats(node: Node, draft: Draft) -> bool:
    """Whether a node may give floats that it has computed."""
    if node.op_type in _CASTS or operator_of(node).picks:
        return False
    kinds = [draft.facts(name).elem_type for name in node.output if name]
    return not all(kind is not None and _is_exact(kind) for kind in kinds)


def _is_exact(kind: DataType) -> bool:
    return kind.is_integer or kind is DataType.BOOL
