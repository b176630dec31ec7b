"""CastLike to a type of integers or truth values, where that is known, is a Cast.

To a type of numbers it stays: import reads it as it is.
"""

from neat_onnx.model import DataType, Model, Node
from neat_onnx.model.draft import Draft, is_one_of


def known_casts(model: Model) -> Model:
    """The model with Cast for CastLike, where the type has no fractions."""
    draft = Draft(model)

    def cast(node: Node) -> list[Node] | None:
        if not is_one_of(node, "CastLike") or node.given_attributes:
            return None
        known = draft.tensors.get(node.input[1])
        kind: DataType | None = known.data_type if known else draft.facts(node.input[1]).elem_type
        if kind is None or not (kind.is_integer or kind is DataType.BOOL):
            return None
        reads = node.input[:1]
        return [draft.node("Cast", reads, node.output, name=node.name, to=int(kind))]

    return draft.rewritten(cast)
