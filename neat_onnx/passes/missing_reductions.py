"""An axis that is chosen down to one element is reduced, where an optimizer has left that out.

Optimizers turn a reduction of one element into a Squeeze, or remove it. Where TopK or
GatherElements made the axis, import reads the two nodes together, as an aggregation.
"""

from neat_onnx.model import DataType, Model, Node
from neat_onnx.model.draft import Draft, copied

_CHOOSING = ("TopK", "GatherElements")
_REDUCING = ("ReduceMax", "ReduceMin", "Squeeze")
_REDUCED = (
    DataType.FLOAT,
    DataType.DOUBLE,
    DataType.FLOAT16,
    DataType.INT32,
    DataType.INT64,
    DataType.INT8,
    DataType.UINT8,
)
"""The types of which runtimes have ReduceMax, in every opset."""


def squeezes_as_reductions(model: Model) -> Model:
    """The model with ReduceMax for Squeeze of the axis that TopK or GatherElements works along."""
    axis_of: dict[str, int] = {}
    draft = Draft(model)

    def reduced(node: Node) -> list[Node] | None:
        if node.op_type in _CHOOSING and not node.domain:
            axis_of[node.output[0]] = _axis(node)
        axis = axis_of.get(node.input[0]) if node.op_type == "Squeeze" and node.input else None
        if axis is None or node.domain or not _squeezes(node, axis, draft):
            return None
        return [draft.node("ReduceMax", node.input, node.output, name=node.name, keepdims=0)]

    return draft.rewritten(reduced)


def missing_reductions(model: Model) -> Model:
    """The model with ReduceMax behind a choice by ArgMax, or half a median, that none reduces."""
    if not any(node.op_type in _CHOOSING and not node.domain for node in model.graph.node):
        return model
    draft = Draft(model)
    reduced = {
        name
        for node in model.graph.node
        for name in node.input[:1]
        if node.op_type in _REDUCING and not node.domain
    }
    chosen_along: dict[str, int] = {}
    halves = _halves(draft)

    def with_reduction(node: Node) -> list[Node] | None:
        if node.op_type == "ArgMax" and node.given_attributes.get("keepdims", 1):
            chosen_along.update(dict.fromkeys(node.output, _axis(node)))
        if reduced.intersection(node.output) or not _chooses_one(node, draft, chosen_along, halves):
            return None
        chosen = draft.name(f"{node.output[0]}_chosen")
        axes = draft.constant(f"{node.output[0]}_axes", [_axis(node)])
        return [
            copied(node, output=[chosen, *node.output[1:]]),
            draft.node("ReduceMax", [chosen, axes], node.output[:1], keepdims=1),
        ]

    return draft.rewritten(with_reduction)


def _chooses_one(node: Node, draft: Draft, chosen_along: dict[str, int], halves: set[str]) -> bool:
    """Whether a node chooses one element along an axis, for an aggregation."""
    if node.domain or node.op_type not in _CHOOSING:
        return False
    gathers = node.op_type == "GatherElements"
    chooses = (
        chosen_along.get(node.input[1]) == _axis(node) if gathers else node.output[0] in halves
    )
    return chooses and _is_reducible(node.input[0], draft)


def _is_reducible(name: str, draft: Draft) -> bool:
    return draft.facts(name).elem_type in _REDUCED


def _halves(draft: Draft) -> set[str]:
    """The outputs of TopK of one that are added to the largest of another's: medians of two."""
    found = set()
    for node in draft.model.graph.node:
        if node.op_type != "Add" or node.domain:
            continue
        for one, other in (node.input, node.input[::-1]):
            half, top = draft.maker(one, "TopK"), draft.maker(other, "ReduceMax")
            rest = None if top is None else draft.maker(top.input[0], "TopK")
            if half is None or rest is None or half.input[0] != rest.input[0]:
                continue
            count = draft.tensors.get(half.input[1])
            if count is not None and count.values.ravel().tolist() == [1]:
                found.add(one)
    return found


def _axis(node: Node) -> int:
    axis: int = node.given_attributes.get("axis", -1 if node.op_type == "TopK" else 0)
    return axis


def _squeezes(node: Node, axis: int, draft: Draft) -> bool:
    """Whether a Squeeze takes this one axis out, given in the same way."""
    axes = draft.tensors.get(node.input[1]) if len(node.input) > 1 else None
    squeezed = axes is not None and axes.values.ravel().tolist() == [axis]
    return squeezed and _is_reducible(node.input[0], draft)
