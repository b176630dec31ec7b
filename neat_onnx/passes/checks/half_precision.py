"""Half precision: nodes that round their results to 16 bits, as neurons do not.

A network computes in float64. Numbers of BFLOAT16 have 8 bits, so that rounding after each node
shows in the second or third digit: such models are refused. Numbers of FLOAT16 have 11: such models
are imported, with a warning. Weights alone are exact in every type.
"""

from neat_onnx.errors import ModelError, abridged, warn
from neat_onnx.model import DataType, Graph, Node
from neat_onnx.model.node import operator_of
from neat_onnx.model.semantics import gives_sizes
from neat_onnx.model.wiring import nodes_within

_CASTS = ("Cast", "CastLike")


def check_half_precision(graph: Graph) -> None:
    """Refuse a graph that rounds to BFLOAT16; warn of one that rounds to FLOAT16.

    Raises:
        ModelError: it names the nodes.
    """
    rounding = _rounding(graph, DataType.BFLOAT16)
    if rounding:
        raise ModelError(
            f"numbers are rounded to BFLOAT16 at node {abridged(rounding)}, "
            "which neurons do not do",
            where="graph.node",
            hint="Convert the model to float32 (initializers may stay BFLOAT16, behind a Cast)",
        )
    rounding = _rounding(graph, DataType.FLOAT16)
    if rounding:
        warn(
            f"numbers are rounded to FLOAT16 at node {abridged(rounding)}: "
            "the network computes them unrounded, and is not compared with the model"
        )


def rounds_to_half(graph: Graph) -> bool:
    """Whether a node rounds its results to 16 bits."""
    return any(_rounding(graph, kind) for kind in (DataType.FLOAT16, DataType.BFLOAT16))


def _rounding(graph: Graph, kind: DataType) -> list[str]:
    """The labels of the nodes that compute numbers of a type and round them."""
    computed = {entry.name for entry in graph.inputs if entry.elem_type is kind}
    constant = {tensor.name for tensor in graph.initializer if tensor.data_type is kind}
    found = []
    for node in nodes_within(graph):
        given = {name for name in node.input if name}
        if node.op_type in _CASTS:
            if not _casts_to(node, kind, computed | constant):
                continue
            rounds = node.input[0] not in computed | constant
        else:
            exact = _is_exact(node)
            half = computed | constant if exact else computed
            if half.isdisjoint(given) and not (given and given <= constant):
                continue
            rounds = not exact
        computed.update(filter(None, node.output))
        if rounds:
            found.append(node.label)
    return found


def _is_exact(node: Node) -> bool:
    """Whether a node chooses numbers, or compares them: nothing is rounded."""
    operator = operator_of(node)
    combines = node.given_attributes.get("reduction", "none") != "none"
    return gives_sizes(node) or operator.picks or (operator.exact and not combines)


def _casts_to(node: Node, kind: DataType, half: set[str]) -> bool:
    """Whether a Cast or CastLike gives a type, of which these tensors are."""
    if node.op_type == "CastLike":
        return node.input[1] in half
    return bool(node.given_attributes.get("to") == kind)
