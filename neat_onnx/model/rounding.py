"""Which operators choose, compute exactly or round; and models in half precision or of integers.

A network computes in float64. Numbers of BFLOAT16 have 8 bits, so that rounding after each node
shows in the second or third digit: such models are refused. Numbers of FLOAT16 have 11: such models
are imported, with a warning. Weights alone are exact in every type.
"""

from neat_onnx.errors import ModelError, abridged, warn
from neat_onnx.model import DataType, Graph, Model, Node
from neat_onnx.model.draft import Draft
from neat_onnx.model.wiring import gives_sizes, nodes_within, subgraphs

MOVING = frozenset(
    {"Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose"}
    | {"Unsqueeze"}
)
"""Operators whose results have elements of their first input, and no others."""
CHOOSING = MOVING | {
    *("ArrayFeatureExtractor", "Clip", "Compress", "Concat", "DepthToSpace", "Expand"),
    *("GatherElements", "GatherND", "GlobalMaxPool", "Max", "MaxPool", "Min", "ReduceMax"),
    *("ReduceMin", "ReverseSequence", "SpaceToDepth", "Tile", "TopK", "Where"),
}
"""Operators whose results have elements of their inputs, and no others."""
_EXACT = CHOOSING | {
    *("Abs", "And", "ArgMax", "ArgMin", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr"),
    *("BitwiseXor", "CenterCropPad", "ConstantOfShape", "Equal", "EyeLike", "Greater"),
    *("GreaterOrEqual", "Hardmax", "IsInf", "IsNaN", "Less", "LessOrEqual", "Neg", "Not", "OneHot"),
    *("Or", "Pad", "Relu", "ScatterElements", "ScatterND", "Shape", "Sign", "Trilu", "Xor"),
}
"""Operators that round nothing."""
_CASTS = ("Cast", "CastLike")
_QUANTIZED = frozenset(
    {"DequantizeLinear", "ConvInteger", "MatMulInteger"}
    | {"QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"}
)


def check_half_precision(graph: Graph) -> None:
    """Refuse a graph that rounds to BFLOAT16; warn of one that rounds to FLOAT16 inside.

    Raises:
        ModelError: it names the nodes.
    """
    if rounding := _rounding(DataType.BFLOAT16, graph):
        raise ModelError(
            f"numbers are rounded to BFLOAT16 at node {abridged(rounding)}, "
            "which neurons do not do",
            where="graph.node",
            hint="Convert the model to float32 (initializers may stay BFLOAT16, behind a Cast)",
        )
    if rounding := _rounding(DataType.FLOAT16, graph):
        warn(
            f"numbers are rounded to FLOAT16 at node {abridged(rounding)}: "
            "the network computes them unrounded"
        )


def rounds_to(kind: DataType, graph: Graph) -> bool:
    """Whether a node rounds to BFLOAT16, or to FLOAT16."""
    return bool(_rounding(kind, graph))


def _rounding(kind: DataType, graph: Graph) -> list[str]:
    """The labels of the nodes that give rounded numbers of a type.

    Numbers that are made of constants alone are constants: an import computes them as they are.
    """
    constant = {tensor.name for tensor in graph.initializer}
    half = {entry.name for entry in graph.inputs if entry.elem_type is kind}
    half |= {tensor.name for tensor in graph.initializer if tensor.data_type is kind}
    if not half and not any(node.op_type in _CASTS for node in nodes_within(graph)):
        return []
    read = {name for node in nodes_within(graph) for name in node.input}
    found = []
    for node in nodes_within(graph):
        reads = set(filter(None, node.input))
        if node.op_type in _CASTS:
            gives = _casts_to(node, kind, half)
            last = kind is DataType.FLOAT16 and read.isdisjoint(node.output)  # the port's type
            rounds = gives and not last and half.isdisjoint(node.input[:1])
        else:
            gives = not half.isdisjoint(reads) and not gives_sizes(node)
            rounds = gives and not _is_exact(node)
        half.update(filter(None, node.output) if gives else ())
        if reads and reads <= constant:
            constant.update(node.output)
        elif rounds:
            found.append(node.label)
    return found


def _is_exact(node: Node) -> bool:
    combines = node.given_attributes.get("reduction", "none") != "none"
    return node.op_type in CHOOSING or (node.op_type in _EXACT and not combines)


def _casts_to(node: Node, kind: DataType, half: set[str]) -> bool:
    """Whether a Cast or CastLike gives a type, of which these tensors are."""
    if node.op_type == "CastLike":
        return node.input[1] in half
    return bool(node.given_attributes.get("to") == kind)


def computes_integers(model: Model) -> bool:
    """Whether all numbers are integers or truth values, but for outputs that are cast at the end.

    Such numbers are the same in every runtime, and in a network as far as float64 holds them.
    """
    kinds = [entry.elem_type for entry in model.graph.inputs]
    if not kinds or not all(kind.is_discrete for kind in kinds):
        return False
    draft = Draft(model)

    def may_round(node: Node) -> bool:
        found = [draft.facts(name).elem_type for name in node.output if name]
        last = node.op_type in _CASTS and not draft.readers.get(node.output[0])
        return not last and not all(kind is not None and kind.is_discrete for kind in found)

    return not any(subgraphs(node) or may_round(node) for node in model.graph.node)


def is_quantized(graph: Graph) -> bool:
    """Whether a node of the graph, or of a graph inside it, computes with quantized numbers."""
    return any(
        node.op_type in _QUANTIZED or node.op_type.startswith("QLinear")
        for node in nodes_within(graph)
    )
