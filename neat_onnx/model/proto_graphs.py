"""Walks through the graphs of a model as protobuf has it, which may stand inside nodes."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


def nodes_in(nodes: "Iterable[onnx.NodeProto]") -> "Iterator[onnx.NodeProto]":
    """Yield the nodes, then the nodes of the graphs inside them."""
    bodies = [nodes]
    while bodies:
        for node in bodies.pop():
            yield node
            bodies.extend(graph.node for graph in own_graphs(node))


def graphs_in(node: "onnx.NodeProto") -> "Iterator[onnx.GraphProto]":
    """Yield the graphs inside a node, and those inside of theirs."""
    for each in nodes_in([node]):
        yield from own_graphs(each)


def own_graphs(node: "onnx.NodeProto") -> "Iterator[onnx.GraphProto]":
    """Yield the graphs inside a node, without those inside of theirs."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs
