"""Attributes written out: a node says every attribute that has a value, its defaults too.

Defaults are ONNX's own, of the model's opset; where ONNX has them in words, the operator's class
has them in numbers.
"""

from functools import cache
from typing import Any

from neat_onnx.model import Function, Graph, Model, Node
from neat_onnx.model.graph import ONNX_DOMAINS

Values = dict[str, Any]


def written_attributes(model: Model) -> Model:
    """The model with every attribute that has a default written in its nodes, inner graphs too."""

    def function(each: Function) -> Function:
        nodes = [_written(node, model.opset) for node in each.node]
        return each.model_copy(update={"node": nodes})

    changes = {
        "graph": _graph(model.graph, model.opset),
        "functions": [function(each) for each in model.functions],
    }
    return model.model_copy(update=changes)


def _graph(graph: Graph, opset: int) -> Graph:
    return graph.model_copy(update={"node": [_written(node, opset) for node in graph.node]})


def _written(node: Node, opset: int) -> Node:
    if node.domain not in ONNX_DOMAINS:
        return node
    kind = type(node.attributes)
    given = node.given_attributes
    inner = {
        name: _graph(value, opset) for name, value in given.items() if isinstance(value, Graph)
    }
    values = _defaults(type(node), opset) | node.defaults_in_words() | given | inner
    there = _names(type(node), opset) | given.keys()
    known = {
        name: value for name, value in values.items() if name in kind.types() and name in there
    }
    return node.model_copy(update={"attributes": kind(**known)}) if known else node


@cache
def _names(kind: type[Node], opset: int) -> frozenset[str]:
    """The attributes that an operator has in an opset: AveragePool has dilations from 19 on."""
    from onnx import defs  # noqa: PLC0415 - slow to import

    return frozenset(defs.get_schema(kind.__name__, opset).attributes)


@cache
def _defaults(kind: type[Node], opset: int) -> Values:
    """The defaults that ONNX has for an operator, as our classes spell them where they do."""
    from onnx import defs, helper  # noqa: PLC0415 - slow to import

    ours = kind.model_fields["attributes"].annotation.model_fields  # type: ignore[union-attr]
    found: Values = {}
    for name, entry in defs.get_schema(kind.__name__, opset).attributes.items():
        if not entry.default_value.type or name not in ours:
            continue
        value = ours[name].default
        if value is None:
            value = helper.get_attribute_value(entry.default_value)
        found[name] = value.decode() if isinstance(value, bytes) else value
    return found
