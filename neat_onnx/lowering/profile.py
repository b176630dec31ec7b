"""Profiles: a finished model in the form of the graph-semantics profile, and checked against it.

In the profile "sonnx" a node says every attribute that has a value, its defaults too. Defaults are
ONNX's own, of the model's opset; where ONNX has them in words, the operator's class has them in
numbers.
"""

from functools import cache
from typing import Any

from neat_onnx.errors import NetworkError
from neat_onnx.model import Graph, Model, Node, node_classes, validate
from neat_onnx.model.draft import make_node
from neat_onnx.model.graph import ONNX_DOMAINS, schema_of
from neat_onnx.options import ExportOptions


def in_profile(model: Model, options: ExportOptions) -> Model:
    """The model as the profile of an export wants it.

    In the profile "sonnx" nodes are fully configured: they write their attributes out.

    Raises:
        NetworkError: the model has a finding of that profile; says which.
    """
    if options.profile != "sonnx":
        return model
    written = model.model_copy(update={"graph": _graph(model.graph, model.opset)})
    for finding in validate(written, "sonnx"):
        text = f"the graph would break constraint {finding.code} of the profile: {finding.message}"
        raise NetworkError(text, where=finding.where, hint=finding.hint or "Leave profile out")
    return written


def _graph(graph: Graph, opset: int) -> Graph:
    """The graph with every attribute that has a default written in its nodes, inner ones too."""
    return graph.model_copy(update={"node": [_written(node, opset) for node in graph.node]})


def _written(node: Node, opset: int) -> Node:
    if node.domain not in ONNX_DOMAINS:
        return node
    given = node.given_attributes
    inner = {
        name: _graph(value, opset) for name, value in given.items() if isinstance(value, Graph)
    }
    stated = _defaults(node.op_type, opset) | node.defaults_in_words()
    there = schema_of(node.op_type, "", opset).attributes
    values = {name: value for name, value in stated.items() if name in there} | given | inner
    return make_node(node.op_type, node.input, node.output, values, name=node.name, opset=opset)


@cache
def _defaults(op_type: str, opset: int) -> dict[str, Any]:
    """The defaults that ONNX has for an operator, as its class spells them if it has one."""
    from onnx import helper  # noqa: PLC0415 - slow to import

    typed = node_classes().get(op_type, Node).model_fields["attributes"].annotation
    ours: dict[str, Any] = getattr(typed, "model_fields", {})
    found: dict[str, Any] = {}
    for name, entry in schema_of(op_type, "", opset).attributes.items():
        if entry.default_value.type:
            value = ours[name].default if name in ours else None
            if value is None:
                value = helper.get_attribute_value(entry.default_value)
            found[name] = value.decode() if isinstance(value, bytes) else value
    return found
