"""Attributes as runtimes read them: ONNX holds their numbers in float32, whatever the model's type.

JSON, and the defaults of operators, have more digits.
"""

from functools import cache
from typing import Any

import numpy as np

from neat_onnx.model import Attributes, Graph, Model, Node
from neat_onnx.model.attributes import AttributeType
from neat_onnx.model.draft import copied

_FLOATS = (AttributeType.FLOAT, AttributeType.FLOATS)


def float32_attributes(model: Model) -> Model:
    """The model whose nodes have attributes, and defaults of these, that float32 holds."""
    graph = _of_graph(model.graph)
    return model if graph is model.graph else copied(model, graph=graph)


def _of_graph(graph: Graph) -> Graph:
    nodes = [_of_node(node) for node in graph.node]
    same = all(one is other for one, other in zip(nodes, graph.node, strict=True))
    return graph if same else copied(graph, node=nodes)


def _of_node(node: Node) -> Node:
    given = node.attributes
    fields = {name: getattr(given, name) for name in _fields(type(given))}
    read = {name: _read(value) for name, value in fields.items()}
    if read == fields:
        return node
    values = {name: getattr(given, name) for name in type(given).model_fields} | read
    attributes = type(given).model_construct(_fields_set=given.model_fields_set, **values)
    return node.model_copy(update={"attributes": attributes})


def _read(value: Any) -> Any:
    if isinstance(value, float):
        return float(np.float32(value))
    if isinstance(value, tuple):
        return tuple(map(_read, value))
    return _of_graph(value) if isinstance(value, Graph) else value


@cache
def _fields(kind: type[Attributes]) -> list[str]:
    """The attributes that are numbers of a float type, or may be graphs."""
    of_graphs = kind.may_hold_graphs()
    kinds = (*_FLOATS, AttributeType.GRAPH) if of_graphs else _FLOATS
    return [name for name, each in kind.types().items() if each in kinds]
