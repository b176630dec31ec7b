"""Nodes that a hint may be of: those that come back, and how a hint writes them."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from neat_onnx.model import DataType, Graph, Model, Node, Tensor
from neat_onnx.model.graph import DEFAULT_OPSET, ONNX_DOMAINS
from neat_onnx.model.node import operator_of
from neat_onnx.model.open_node import schema_of
from neat_onnx.model.wiring import names_made, subgraphs
from neat_onnx.passes.constants import constant_nodes
from neat_onnx.passes.draft import copied
from neat_onnx.passes.splice import renamed_tensor, renamed_throughout

_WIDE = {DataType.INT32, DataType.INT64}  # runtimes have nearly every operator for these
_BYTES = {DataType.INT8, DataType.UINT8}
_MAX_NUMBERS = 256  # of constants: more are weights, and layers of these come back by themselves


def numbered(graph: Graph) -> Graph:
    """The graph with names that are the same wherever its operators stand."""
    names: dict[str, str] = {}
    made = [name for node in graph.node for name in node.output]
    made += [name for node in graph.node for each in subgraphs(node) for name in names_made(each)]
    tensors = [each.name for each in graph.initializer]
    for name in filter(None, (*(each.name for each in graph.inputs), *tensors, *made)):
        names.setdefault(name, f"t{len(names)}")
    return copied(
        graph,
        inputs=[copied(each, name=names[each.name]) for each in graph.inputs],
        outputs=[copied(each, name=names[each.name]) for each in graph.outputs],
        initializer=[renamed_tensor(each, names[each.name]) for each in graph.initializer],
        node=[copied(renamed_throughout(node, names), name="") for node in graph.node],
    )


def constants_inside(node: Node) -> Iterator[Tensor]:
    """Yield the constants of graphs inside a node."""
    for graph in subgraphs(node):
        yield from constant_nodes(Model(graph=graph)).graph.initializer
        for each in graph.node:
            yield from constants_inside(each)


def are_few_numbers(tensors: Sequence[Tensor]) -> bool:
    """Whether constants are few numbers, no weights, and finite: JSON has no others."""
    few = sum(each.size for each in tensors) <= _MAX_NUMBERS
    numbers = all(each.values.dtype.kind in "biuf" for each in tensors)
    return few and numbers and all(np.isfinite(each.values).all() for each in tensors)


def is_newer(node: Node, opset: int) -> bool:
    """Whether the usual opset of an export has no such operator, or not with such attributes."""
    if opset <= DEFAULT_OPSET:
        return False
    usual = schema_of(node.op_type, node.domain, DEFAULT_OPSET)
    return usual is None or not usual.attributes.keys() >= node.given_attributes.keys()


def may_come_back(node: Node, opset: int) -> bool:
    """Whether a node is an operator of ONNX that runtimes agree on, as are those inside of it."""
    known = node.domain in ONNX_DOMAINS and schema_of(node.op_type, node.domain, opset) is not None
    inner = (each for graph in subgraphs(node) for each in graph.node)
    return known and operator_of(node).by_hint and all(may_come_back(each, opset) for each in inner)


def takes_integers(
    node: Node, kinds: set[DataType], constants: Mapping[str, Tensor], *, are_given: bool
) -> bool:
    """Whether no integer stops a node but a place along an axis that is given to the graph.

    Args:
        node: the node; one that is known by its function alone may have places.
        kinds: the types of its integers.
        constants: the constants of the graph.
        are_given: the integers are inputs of the graph, or results.
    """
    operator = operator_of(node)
    if operator.takes_places or operator is Node:
        return are_given
    if operator.divides:
        divisor = constants.get(node.input[1])
        return kinds <= _WIDE and divisor is not None and bool(np.all(divisor.values > 0))
    return operator.takes_steps or kinds <= (_WIDE | _BYTES if operator.takes_bytes else _WIDE)
