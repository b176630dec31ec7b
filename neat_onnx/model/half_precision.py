"""Half precision: nodes that round their results to 16 bits, as neurons do not.

A network computes in float64. Numbers of BFLOAT16 have 8 bits, so that rounding after each node
shows in the second or third digit: such models are refused. Numbers of FLOAT16 have 11: such models
are imported, with a warning. Weights alone are exact in every type, and a result that is rounded to
FLOAT16 as it leaves the graph has the type of its port.
"""

from neat_onnx.errors import ModelError, abridged, warn
from neat_onnx.model import DataType, Graph, Node
from neat_onnx.model.operator_kinds import CHOOSING, EXACT
from neat_onnx.model.wiring import gives_sizes, nodes_within, subgraphs

_CASTS = ("Cast", "CastLike")


def check_half_precision(graph: Graph) -> None:
    """Refuse a graph that rounds to BFLOAT16; warn of one that rounds to FLOAT16 inside.

    Raises:
        ModelError: it names the nodes.
    """
    if rounding := _rounding(graph, DataType.BFLOAT16):
        raise ModelError(
            f"numbers are rounded to BFLOAT16 at node {abridged(rounding)}, "
            "which neurons do not do",
            where="graph.node",
            hint="Convert the model to float32 (initializers may stay BFLOAT16, behind a Cast)",
        )
    if rounding := _rounding(graph, DataType.FLOAT16):
        warn(
            f"numbers are rounded to FLOAT16 at node {abridged(rounding)}: "
            "the network computes them unrounded"
        )


def rounds_to(kind: DataType, graph: Graph) -> bool:
    """Whether a node rounds to BFLOAT16, or to FLOAT16 for others of the graph to read."""
    return bool(_rounding(graph, kind))


def _rounding(graph: Graph, kind: DataType) -> list[str]:
    """The labels of the nodes that compute numbers of a type and round them.

    Numbers that are made of constants alone are constants: an import computes them as they are.
    """
    computed = {entry.name for entry in graph.inputs if entry.elem_type is kind}
    constant = {tensor.name for tensor in graph.initializer if tensor.data_type is kind}
    casts = (node for node in nodes_within(graph) if node.op_type == "Cast")
    if not (computed or constant or any(node.given_attributes.get("to") == kind for node in casts)):
        return []
    unchanging = {tensor.name for tensor in graph.initializer}
    inside, found = _computed_with(graph), []
    for node in nodes_within(graph):
        given = {name for name in node.input if name}
        fixed = bool(given) and given <= unchanging
        unchanging.update(node.output if fixed else ())
        if node.op_type in _CASTS:
            if not _casts_to(node, kind, computed | constant):
                continue
            rounds = node.input[0] not in computed | constant
        else:
            exact = _is_exact(node)
            half = computed | constant if exact or fixed else computed
            if half.isdisjoint(given):
                continue
            rounds = not exact
        (constant if fixed else computed).update(filter(None, node.output))
        stated = kind is DataType.FLOAT16 and inside.isdisjoint(node.output)
        if rounds and not fixed and not stated:
            found.append(node.label)
    return found


def _computed_with(graph: Graph) -> set[str]:
    """The tensors that nodes compute with: others leave the graph, if in another shape."""
    found = set[str]()
    for node in reversed([*nodes_within(graph)]):
        if not (_is_exact(node) and found.isdisjoint(node.output)):
            found.update(filter(None, node.input))
        found.update(entry.name for inner in subgraphs(node) for entry in inner.outputs)
    return found


def _is_exact(node: Node) -> bool:
    """Whether a node chooses numbers, or compares them: nothing is rounded."""
    combines = node.given_attributes.get("reduction", "none") != "none"
    return gives_sizes(node) or node.op_type in CHOOSING or (node.op_type in EXACT and not combines)


def _casts_to(node: Node, kind: DataType, half: set[str]) -> bool:
    """Whether a Cast or CastLike gives a type, of which these tensors are."""
    if node.op_type == "CastLike":
        return node.input[1] in half
    return bool(node.given_attributes.get("to") == kind)
