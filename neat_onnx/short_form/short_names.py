"""Names of one or two letters for tensors, and none for nodes: ONNX wants no more."""

from collections.abc import Collection, Iterator
from itertools import product
from string import ascii_letters, digits

from neat_onnx.model import Graph, Model, Node
from neat_onnx.model.wiring import names_made
from neat_onnx.passes.draft import copied, with_graph
from neat_onnx.passes.splice import renamed_tensor, renamed_throughout
from neat_onnx.short_form.straight import Names

BEFORE = "_"
"""Stands behind the name of an Identity's output in the name of its input: an optimizer that takes
one of the two away leaves a name that tells of both.
"""
_LETTERS = digits + ascii_letters
_ACTIVATIONS = ("Tanh", "Sigmoid", "Relu")  # of NeatapticTS; another is its identity


def short_names(model: Model, *, layers: bool) -> tuple[Model, Names]:
    """The model with short names, and the new name of each tensor that has one.

    Inputs and outputs of the graph keep theirs. Graphs inside of nodes have short names, too.

    Args:
        model: the model.
        layers: the names that NeatapticTS looks for stay: of constants, and of the nodes of
            the activations that it knows.
    """
    graph = model.graph
    names = _names(graph, {tensor.name for tensor in graph.initializer} if layers else set())
    kept = _ACTIVATIONS if layers else ()
    tensors = [renamed_tensor(each, names.get(each.name, each.name)) for each in graph.initializer]
    nodes = [_renamed(node, names, kept) for node in graph.node]
    return with_graph(model, name="g", initializer=tensors, node=nodes), names


def _names(graph: Graph, kept: Collection[str]) -> Names:
    ports = {entry.name for entry in (*graph.inputs, *graph.outputs)}.union(kept)
    inside = dict.fromkeys(names_made(graph))
    free = (name for name in _shortest() if name not in ports)
    ended = {node.input[0]: node.output[0] for node in graph.node if node.op_type == "Identity"}
    names: Names = {}
    for name in reversed(inside):
        if name and name not in ports:
            end = ended.get(name, "")
            wish = f"{names.get(end, end)}{BEFORE}" if end else next(free)
            names[name] = next(free) if wish in ports else wish
    return names


def _shortest() -> Iterator[str]:
    """All names of digits and letters, the shortest first."""
    length = 1
    while True:
        yield from map("".join, product(_LETTERS, repeat=length))
        length += 1


def _renamed(node: Node, names: Names, kept: Collection[str]) -> Node:
    name = node.name if node.op_type in kept else ""
    return copied(renamed_throughout(node, names), name=name)
