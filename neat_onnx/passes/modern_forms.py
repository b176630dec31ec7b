"""Bring a model of an older opset to opset 18: every operator in the form that it has there.

Attributes that became inputs become initializers, attributes without effect go, and the effects of
the old form's attributes become nodes. An operator whose form did not change is taken
over. The rules of each operator are in `old_forms`.
"""

from neat_onnx.errors import ModelError
from neat_onnx.model import Graph, Model, Node, OperatorSet
from neat_onnx.model.attributes import AttributeType
from neat_onnx.model.draft import MODERN, Draft, copied, make_node
from neat_onnx.model.graph import ONNX_DOMAINS
from neat_onnx.passes.old_forms import FORMS, OldNode

_OLDEST_IR = 8  # of opset 18


def modern_forms(model: Model) -> Model:
    """The model at opset 18, or as it is if its opset is 18 or later.

    Raises:
        ModelError: an operator had a form that no operator has now.
    """
    if model.opset >= MODERN:
        return model
    draft = Draft(model)
    nodes = _modern_nodes(model.graph.node, draft)
    versions = [entry for entry in model.opset_import if entry.domain not in ONNX_DOMAINS]
    return copied(
        draft.finished(nodes),
        opset_import=[OperatorSet(version=MODERN), *versions],
        ir_version=max(model.ir_version or _OLDEST_IR, _OLDEST_IR),
    )


def _modern_nodes(nodes: list[Node], draft: Draft) -> list[Node]:
    modern: list[Node] = []
    for at, node in enumerate(nodes):
        try:
            modern += modern_node(node, draft)
        except ModelError as error:
            raise ModelError(
                error.message, where=error.where or f"graph.node[{at}]", hint=error.hint
            ) from None
    return modern


def modern_node(node: Node, draft: Draft) -> list[Node]:
    """A node's modern form, and the nodes around it that its old one needs.

    Raises:
        ModelError: it has none.
    """
    if node.domain not in ONNX_DOMAINS:  # its form does not depend on the opset
        given = node.given_attributes
        return [make_node(node.op_type, node.input, node.output, given,
                          name=node.name, domain=node.domain)]  # fmt: skip
    old = OldNode(
        op_type=node.op_type,
        reads=list(node.input),
        gives=list(node.output),
        attributes=node.given_attributes,
        opset=draft.model.opset,
        draft=draft,
        name=node.name,
    )
    old.attributes.pop("consumed_inputs", None)
    if node.op_type in FORMS:
        FORMS[node.op_type](old)
    for name, kind, value in node.attributes.given():
        if kind is AttributeType.GRAPH:
            old.attributes[name] = _modern_graph(value, draft)
    here = make_node(old.op_type, old.reads, old.gives, old.attributes, name=node.name)
    return [*old.before, here, *old.after]


def _modern_graph(graph: Graph, draft: Draft) -> Graph:
    """A graph inside a node: its new initializers stand in the graph around it."""
    return copied(graph, node=_modern_nodes(graph.node, draft))
