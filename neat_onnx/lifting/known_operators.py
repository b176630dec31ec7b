"""Whether import knows every operator of a graph; one error lists all that it does not know."""

from neat_onnx.errors import ModelError, abridged
from neat_onnx.lifting.context import LIFTS
from neat_onnx.lifting.outputs import choice_hint
from neat_onnx.lifting.registry import HINTS
from neat_onnx.lifting.ways_out import number_hints
from neat_onnx.model import Graph, Node, OpenNode


def is_liftable(node: Node) -> bool:
    """Whether a function is registered for a node's operator, in its form."""
    return node.op_type in LIFTS and not isinstance(node, OpenNode)


def obstacle(node: Node) -> str:
    """The reason why a node's operator cannot be turned into neurons; empty if it can."""
    problem = node.problem if isinstance(node, OpenNode) else ""
    return "" if is_liftable(node) else problem or "this operator cannot be turned into neurons"


def require_lifts(graph: Graph) -> None:
    """Refuse a graph with operators that cannot be turned into neurons.

    Raises:
        ModelError: one error that lists every such operator, with the labels of its nodes.
    """
    missing: dict[str, list[str]] = {}
    lost, refused = set[str](), list[Node]()
    first: int | None = None
    for at, node in enumerate(graph.node):
        if not is_liftable(node):
            missing.setdefault(node.op_type, []).append(node.label)
            lost.update(filter(None, node.output))
            refused.append(node)
            first = at if first is None else first
    if first is None:
        return
    if sum(map(len, missing.values())) == 1:
        node = graph.node[first]
        text = f"node {node.label}: {obstacle(node)}"
    else:
        listed = "; ".join(f"{op_type}: {abridged(labels)}" for op_type, labels in missing.items())
        text = f"these operators cannot be turned into neurons: {listed}"
    raise ModelError(
        text,
        where=f"graph.node[{first}]",
        hint=number_hints(graph, refused) or choice_hint(graph, lost) or hint_for(set(missing)),
    )


def hint_for(missing: set[str]) -> str | None:
    """The way out for operators that cannot be turned into neurons."""
    if missing <= LIFTS.keys():
        return None  # other forms of them can be lifted
    if found := {HINTS[name] for name in missing & HINTS.keys()}:
        return ". ".join(sorted(found))
    return (
        "An operator of your own is a subclass of neat_onnx.model.node.Node, and a function under "
        "neat_onnx.lifting.context.lifts"
    )
