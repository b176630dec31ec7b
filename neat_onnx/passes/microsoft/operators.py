"""Put standard nodes in place of the operators that onnxruntime writes and ONNX does not have.

onnxruntime's quantization and its optimizer write operators of the domain com.microsoft. The rules
of each operator are in `quantized` and `fused`, which register themselves.
"""

from neat_onnx.errors import ModelError
from neat_onnx.model import Graph, Model, Node, OpenNode
from neat_onnx.model.attributes import AttributeType
from neat_onnx.model.node import RUNTIME_DOMAIN
from neat_onnx.model.wiring import nodes_within, subgraphs
from neat_onnx.model.draft import Draft, copied, make_node
from neat_onnx.passes.microsoft import fused, quantized
from neat_onnx.passes.microsoft.call import RULES, Call

_IN_ONNX_DOMAIN = frozenset({"SimplifiedLayerNormalization"})

__all__ = ["fused", "microsoft_operators", "quantized"]


def microsoft_operators(model: Model) -> Model:
    """The model with standard nodes in place of operators of onnxruntime's own domain."""
    if not _has_any(model.graph):
        return model
    draft = Draft(model)
    nodes = _standard_nodes(model.graph.node, draft)
    if nodes == model.graph.node:
        return model
    whole = draft.finished(nodes)
    if any(node.domain == RUNTIME_DOMAIN for node in nodes_within(whole.graph)):
        return whole
    kept = [entry for entry in whole.opset_import if entry.domain != RUNTIME_DOMAIN]
    return copied(whole, opset_import=kept)


def _is_known(node: Node) -> bool:
    """Whether a rule is for a node, which no class of its domain describes."""
    if not isinstance(node, OpenNode) or node.op_type not in RULES or not node.output:
        return False
    return node.domain == RUNTIME_DOMAIN or (not node.domain and node.op_type in _IN_ONNX_DOMAIN)


def _has_any(graph: Graph) -> bool:
    return any(_is_known(node) for node in nodes_within(graph))


def _standard_nodes(nodes: list[Node], draft: Draft) -> list[Node]:
    standard: list[Node] = []
    for node in nodes:
        if _is_known(node):
            call = Call(node, draft)
            try:
                result = RULES[node.op_type](call)
            except TypeError as error:  # nothing declares the types of its attributes
                raise ModelError(f"node {node.label}: an attribute does not fit: {error}") from None
            standard += [node] if result is None else call.finished(result)
        else:
            standard.append(_inside(node, draft))
    return standard


def _inside(node: Node, draft: Draft) -> Node:
    """The node with its graphs in standard nodes; their new initializers stand around it."""
    if not any(_has_any(inner) for inner in subgraphs(node)):
        return node
    given = node.given_attributes
    for name, kind, value in node.attributes.given():
        if kind is AttributeType.GRAPH:
            given[name] = copied(value, node=_standard_nodes(value.node, draft))
    opset = draft.model.opset
    return make_node(
        node.op_type, node.input, node.output, given,
        name=node.name, domain=node.domain, opset=opset,
    )  # fmt: skip
