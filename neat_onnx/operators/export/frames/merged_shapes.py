"""One Reshape, or none, in the place of several nodes that give a tensor another shape."""

from neat_onnx.model import Model, Node
from neat_onnx.model.draft import Draft, HandedOn, is_one_of, renamed
from neat_onnx.model.value import Extent, is_fixed
from neat_onnx.model.wiring import without_dead

_RESHAPING = ("Flatten", "Reshape", "Squeeze", "Unsqueeze")
_Shape = tuple[Extent, ...] | None


def merged_shapes(model: Model) -> tuple[Model, dict[str, str]]:
    """The model in which no such node reads another, or gives the shape that there was, and the
    names there of tensors that had others: of one between two such nodes, that of the last.
    """
    draft, handed_on, nodes = Draft(model), HandedOn(model.graph), list[Node]()
    later: dict[str, str] = {}
    for node in model.graph.node:
        if not is_one_of(node, *_RESHAPING):
            nodes.append(node)
            continue
        source, made = draft.behind(node.input[0], *_RESHAPING), node.output[0]
        if source != node.input[0]:
            later.setdefault(node.input[0], made)
        before, after = draft.facts(source).shape, draft.facts(made).shape
        if before != after or not is_fixed(after):
            nodes.append(_reshaped(draft, node, source, after))
        elif not handed_on.take(source, made):
            nodes.append(draft.node("Identity", [source], [made], name=node.name))
    names = handed_on.names
    merged = without_dead(draft.finished([renamed(node, names) for node in nodes]))
    return merged, names | _names_of_gone(merged, later, names)


def _names_of_gone(merged: Model, later: dict[str, str], names: dict[str, str]) -> dict[str, str]:
    """The names of tensors that no node gives any more: of those that another shape follows, that
    of the tensor in the last shape.
    """
    left = {name for node in merged.graph.node for name in node.output}
    found: dict[str, str] = {}
    for gone in reversed(later):  # those behind it come first
        if names.get(gone, gone) not in left:
            last = later[gone]
            found[gone] = found.get(last, names.get(last, last))
    return found


def _reshaped(draft: Draft, node: Node, source: str, shape: _Shape) -> Node:
    """The node that gives a tensor its shape: the same where it reads no other such node."""
    if source == node.input[0] or not is_fixed(shape):
        return node
    sizes = draft.constant(f"shape_{node.output[0]}" if node.name else "s", list(shape))
    return draft.node("Reshape", [source, sizes], node.output, name=node.name)
