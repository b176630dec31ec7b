"""Models that round otherwise than neurons: in half precision, of integers, quantized.

A network computes in float64. Numbers of FLOAT16 have 11 bits: such models are imported, with a
warning. Weights alone are exact in every type.
"""

from neat_onnx.errors import abridged, warn
from neat_onnx.model import DataType, Graph, Model, Node
from neat_onnx.model.draft import Draft
from neat_onnx.model.wiring import gives_sizes, nodes_within, reads, subgraphs

MOVING = frozenset(
    {"Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose"}
    | {"Unsqueeze"}
)
"""Operators whose results have elements of their first input, and no others."""
_CHOOSING = MOVING | {
    *("Clip", "Concat", "Expand", "GatherElements", "GlobalMaxPool", "Max", "MaxPool", "Min"),
    *("Neg", "Pad", "ReduceMax", "ReduceMin", "Relu", "Tile", "TopK", "Where"),
}
"""Operators that round nothing."""
_CASTS = ("Cast", "CastLike")
_QUANTIZED = frozenset(
    {"DequantizeLinear", "ConvInteger", "MatMulInteger"}
    | {"QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"}
)


def warn_of_half_precision(graph: Graph) -> None:
    """Warn of a graph that rounds to FLOAT16 inside."""
    if rounding := rounding_to_half(graph):
        warn(
            f"numbers are rounded to FLOAT16 at node {abridged(rounding)}: "
            "the network computes them unrounded"
        )


def rounding_to_half(graph: Graph) -> list[str]:
    """The labels of the nodes that give numbers rounded to FLOAT16.

    Numbers that are made of constants alone are constants: an import computes them as they are.
    """
    constant = {tensor.name for tensor in graph.initializer}
    half = {each.name for each in graph.inputs if each.elem_type is DataType.FLOAT16}
    half |= {each.name for each in graph.initializer if each.data_type is DataType.FLOAT16}
    nodes = list(nodes_within(graph))
    if not half and not any(node.op_type in _CASTS for node in nodes):
        return []
    read = {name for node in nodes for name in node.input}
    found = []
    for node in nodes:
        given = set(filter(None, node.input))
        if node.op_type in _CASTS:
            like = node.op_type == "CastLike" and node.input[1] in half
            gives = like or node.given_attributes.get("to") == DataType.FLOAT16
            is_last = read.isdisjoint(node.output)  # the type of the port
            rounds = gives and not is_last and half.isdisjoint(node.input[:1])
        else:
            gives = not half.isdisjoint(given) and not gives_sizes(node)
            rounds = gives and node.op_type not in _CHOOSING
        half.update(filter(None, node.output) if gives else ())
        if given and given <= constant:
            constant.update(node.output)
        elif rounds:
            found.append(node.label)
    return found


def computes_integers(model: Model) -> bool:
    """Whether all numbers are integers or truth values, but for outputs that are cast at the end.

    Such numbers are the same in every runtime, and in a network as far as float64 holds them.
    """
    kinds = [entry.elem_type for entry in model.graph.inputs]
    if not kinds or not all(kind.is_discrete for kind in kinds):
        return False
    draft, graph = Draft(model), model.graph
    read = {name for node in graph.node for name in reads(node)}
    read -= {entry.name for entry in graph.outputs}

    def may_round(node: Node) -> bool:
        found = [draft.facts(name).elem_type for name in node.output if name]
        last = node.op_type in _CASTS and node.output[0] not in read
        return not last and not all(kind is not None and kind.is_discrete for kind in found)

    return not any(subgraphs(node) or may_round(node) for node in graph.node)


def is_quantized(graph: Graph) -> bool:
    """Whether a node of the graph, or of a graph inside it, computes with quantized numbers."""
    return any(
        node.op_type in _QUANTIZED or node.op_type.startswith("QLinear")
        for node in nodes_within(graph)
    )
