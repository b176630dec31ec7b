"""Models that compute with integers alone: none of their numbers is rounded."""

from neat_onnx.model import Model, Node
from neat_onnx.model.data_type import DataType
from neat_onnx.model.draft import Draft
from neat_onnx.model.operator_kinds import CHOOSING
from neat_onnx.model.wiring import subgraphs

_CASTS = ("Cast", "CastLike")
_SHORT = (DataType.BOOL, DataType.INT8, DataType.UINT8, DataType.INT16, DataType.UINT16)
_HELD: dict[DataType | None, tuple[DataType, ...]] = {
    DataType.FLOAT: _SHORT,
    DataType.DOUBLE: (*_SHORT, DataType.INT32, DataType.UINT32, DataType.INT64, DataType.UINT64),
}
"""The types of integers that a type of floats holds; of 64 bits, up to 2^53."""


def computes_integers(model: Model) -> bool:
    """Whether all inputs are integers or truth values, and floats are only made of them, or chosen.

    Such numbers are the same in every runtime, and in a network as far as float64 holds them.
    """
    kinds = [entry.elem_type for entry in model.graph.inputs]
    if not kinds or not all(kind.is_discrete for kind in kinds):
        return False
    draft = Draft(model)
    return not any(subgraphs(node) or _computes_floats(node, draft) for node in model.graph.node)


def _computes_floats(node: Node, draft: Draft) -> bool:
    """Whether a node may give floats that it has computed."""
    if node.op_type in CHOOSING:
        return False
    kinds = [draft.facts(name).elem_type for name in node.output if name]
    if node.op_type in _CASTS:
        held = draft.facts(node.input[0]).elem_type in _HELD.get(kinds[0], ())
        if held or not draft.readers.get(node.output[0]):  # an output may be rounded at the end
            return False
    return not all(kind is not None and kind.is_discrete for kind in kinds)
