"""Squeeze of an axis that is chosen down to one element becomes the reduction that it stands for.

Optimizers turn a reduction of one element into a Squeeze. Where TopK or GatherElements made the
axis, import reads the two nodes together, as an aggregation.
"""

from neat_onnx.model import Model, Node
from neat_onnx.passes.draft import Draft, attributes_of, make_node

_CHOOSING = ("TopK", "GatherElements")


def single_elements(model: Model) -> Model:
    """The model with ReduceMax for Squeeze of the axis that TopK or GatherElements works along."""
    axis_of: dict[str, int] = {}
    draft, changed = Draft(model), False
    for node in model.graph.node:
        if node.op_type in _CHOOSING and not node.domain:
            axis_of[node.output[0]] = attributes_of(node).get("axis", _default(node))
        axis = axis_of.get(node.input[0]) if node.op_type == "Squeeze" and node.input else None
        if axis is None or node.domain or not _squeezes(node, axis, draft):
            draft.nodes.append(node)
            continue
        changed = True
        draft.nodes.append(
            make_node(
                "ReduceMax", node.input, node.output, {"keepdims": 0},
                name=node.name, opset=draft.model.opset,
            )
        )  # fmt: skip
    return draft.finished() if changed else model


def _default(node: Node) -> int:
    return -1 if node.op_type == "TopK" else 0


def _squeezes(node: Node, axis: int, draft: Draft) -> bool:
    """Whether a Squeeze takes this one axis out, given in the same way."""
    axes = draft.tensors.get(node.input[1]) if len(node.input) > 1 else None
    return axes is not None and axes.values.ravel().tolist() == [axis]
