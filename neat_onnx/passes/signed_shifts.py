"""Shifts of signed integers, which ONNX has for unsigned ones alone: products with powers of two.

PyTorch's newer exporter casts to as many bits without a sign, shifts, and casts back; after a shift
to the right, it sets the first bits of negative numbers.
"""

from neat_onnx.model import DataType, Model, Node
from neat_onnx.model.draft import Draft, is_one_of

_UNSIGNED = {
    DataType.INT8: (DataType.UINT8, 8),
    DataType.INT16: (DataType.UINT16, 16),
    DataType.INT32: (DataType.UINT32, 32),
    DataType.INT64: (DataType.UINT64, 64),
}
"""By type, the one of as many bits without a sign, and how many these are."""


def signed_shifts(model: Model) -> Model:
    """The model with products for shifts to the left, and their floor for those to the right."""
    draft = Draft(model)
    return draft.rewritten(lambda node: _left(node, draft) or _right(node, draft))


def _left(node: Node, draft: Draft) -> list[Node] | None:
    if not is_one_of(node, "Cast"):
        return None
    source, kind, count = _shift(draft, node.input[0], "LEFT")
    if kind is None or node.given_attributes["to"] != kind or count > _UNSIGNED[kind][1] - 2:
        return None
    factor = draft.constant(f"{node.output[0]}_factor", 2**count, kind)
    return [draft.node("Mul", [source, factor], node.output, name=node.name)]


def _right(node: Node, draft: Draft) -> list[Node] | None:
    if not is_one_of(node, "Where"):
        return None
    less, negative, positive = map(draft.producers.get, node.input)
    if less is None or negative is None or positive is None or not is_one_of(less, "Less"):
        return None
    casts = is_one_of(negative, "Cast") and is_one_of(positive, "Cast")
    source, kind, count = _shift(draft, positive.input[0], "RIGHT") if casts else ("", None, 0)
    filled = draft.maker(negative.input[0], "BitwiseOr") if kind is not None else None
    if kind is None or filled is None or filled.input[0] != positive.input[0]:
        return None
    bits = _UNSIGNED[kind][1]
    ends = draft.integer(less.input[1]), draft.integer(filled.input[1])
    kinds = {each.given_attributes["to"] for each in (negative, positive)}
    if less.input[0] != source or ends != (0, 2**bits - 2 ** (bits - count)) or kinds != {kind}:
        return None
    factor = draft.constant(f"{node.output[0]}_factor", 2.0**-count, DataType.DOUBLE)
    steps = [
        ("Cast", [], {"to": int(DataType.DOUBLE)}),
        ("Mul", [factor], {}),
        ("Floor", [], {}),
        ("Cast", [], {"to": int(kind)}),
    ]
    return draft.chain(source, node.output[0], steps, f"{node.output[0]}_shifted")


def _shift(draft: Draft, name: str, direction: str) -> tuple[str, DataType | None, int]:
    """The signed tensor that a tensor is shifted from, its type, and by how much; None if none."""
    node = draft.maker(name, "BitShift")
    cast = draft.maker(node.input[0], "Cast") if node is not None else None
    count = draft.integer(node.input[1]) if node is not None else None
    if node is None or cast is None or node.given_attributes["direction"] != direction:
        return "", None, 0
    kind = draft.facts(cast.input[0]).elem_type
    unsigned, bits = _UNSIGNED.get(kind, (None, 0)) if kind is not None else (None, 0)
    fits = count is not None and 0 <= count < bits and cast.given_attributes["to"] == unsigned
    return (cast.input[0], kind, count or 0) if fits else ("", None, 0)
