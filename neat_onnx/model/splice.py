"""Tensors under other names: of a graph inside a node, taken into the graph around it, and of nodes
that hand their input on.
"""

from collections.abc import Callable, Mapping

from neat_onnx.model import Graph, Node
from neat_onnx.model.draft import Draft, copied, make_node
from neat_onnx.model.wiring import subgraphs


def splice(draft: Draft, graph: Graph, given: Mapping[str, str], wanted: list[str]) -> list[Node]:
    """The nodes of `graph` under names of the graph around it; its initializers go to `draft`.

    Args:
        given: for each input of `graph`, the tensor outside that it is.
        wanted: the tensors outside that its outputs become; "" for one that nobody reads.
    """
    names = dict(given)
    outputs = [entry.name for entry in graph.outputs]
    made = {name for node in graph.node for name in node.output if name}
    for inner, outer in zip(outputs, wanted, strict=True):
        if outer and inner in made and inner not in names:
            names[inner] = outer
    for tensor in graph.initializer:
        if tensor.name not in names:
            names[tensor.name] = draft.name(tensor.name)
            draft.tensors[names[tensor.name]] = copied(tensor, name=names[tensor.name])
    for node in graph.node:
        for name in filter(None, node.output):
            if name not in names:
                names[name] = draft.name(name)
    nodes = [copied(renamed(node, names), name=draft.node_name(node.name)) for node in graph.node]
    for inner, outer in zip(outputs, wanted, strict=True):
        source = names.get(inner, inner)
        if outer and source != outer:
            nodes.append(draft.node("Identity", [source], [outer]))
    return nodes


def renamed_twice(first: Mapping[str, str], then: Mapping[str, str]) -> dict[str, str]:
    """The names that tensors have in the end, of which some were renamed after others."""
    return {**then, **{old: then.get(new, new) for old, new in first.items()}}


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """The node reading and giving tensors by their new names, in graphs inside of it as well."""
    return _renamed(node, names, _reading_renamed)


def _renamed(
    node: Node,
    names: Mapping[str, str],
    inside: Callable[[Graph, Mapping[str, str]], Graph],
) -> Node:
    reads = [names.get(name, name) for name in node.input]
    gives = [names.get(name, name) for name in node.output]
    if not subgraphs(node):
        if reads == node.input and gives == node.output:
            return node
        return copied(node, input=reads, output=gives)
    attributes = {
        key: inside(value, names) if isinstance(value, Graph) else value
        for key, value in node.given_attributes.items()
    }
    return make_node(node.op_type, reads, gives, attributes, name=node.name, domain=node.domain)


class HandedOn:
    """Tensors that are the same as another one, and the names that stay for both.

    Attributes:
        wanted: the names of the graph's outputs, which stay.
        alias: by name, the tensor that is the same.
        called: by name, the graph output that the tensor is now called.
    """

    def __init__(self, graph: Graph) -> None:
        self.wanted = {entry.name for entry in graph.outputs}
        self.alias: dict[str, str] = {}
        self.called: dict[str, str] = {}
        self._fixed = self.wanted | {entry.name for entry in graph.inputs} | set(graph.tensors)

    def source(self, name: str) -> str:
        """The name of the tensor that this one is."""
        return self.alias.get(name, name)

    def take(self, name: str, result: str) -> bool:
        """Have a tensor stand for a copy of it; False where the names of both have to stay."""
        source = self.source(name)
        if result not in self.wanted:
            self.alias[result] = source
            return True
        if source in self._fixed or source in self.called:
            return False
        self.called[source] = result
        return True

    @property
    def names(self) -> dict[str, str]:
        """The names that tensors have now, of those that have another one."""
        called = self.called
        return {name: called.get(source, source) for name, source in self.alias.items()} | called


def _reading_renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """A graph inside a node: the names that it reads from outside change."""
    own = {entry.name for entry in graph.inputs} | set(graph.tensors)
    own |= {name for node in graph.node for name in node.output}
    outside = {old: new for old, new in names.items() if old not in own}
    outputs = [copied(entry, name=outside.get(entry.name, entry.name)) for entry in graph.outputs]
    nodes = [renamed(node, outside) for node in graph.node]
    return copied(graph, node=nodes, outputs=outputs)
