"""The nodes that give and read each tensor of a graph, or of one inside its nodes."""

from collections.abc import Callable
from functools import cached_property

from neat_onnx.model import Graph, Node
from neat_onnx.model.wiring import subgraphs


class Wiring:
    """The nodes of a graph, and of the graphs inside them, by the tensors that they give and read.

    Names in graphs side by side may be the same: the readers of all of them count.
    """

    def __init__(self, graph: Graph) -> None:
        self._graphs = [graph]
        for each in self._graphs:
            self._graphs.extend(inner for node in each.node for inner in subgraphs(node))

    def is_output(self, name: str) -> bool:
        """Whether a tensor is an output of one of the graphs."""
        return name in self._outputs

    def is_read(self, name: str) -> bool:
        """Whether a node reads a tensor, or it is an output of one of the graphs."""
        return name in self._reading or self.is_output(name)

    def node_giving(self, name: str) -> Node | None:
        """The node that gives a tensor."""
        return self._giving.get(name)

    def operators_reading(self, name: str) -> set[str]:
        """The operators of the nodes that read a tensor."""
        return self._operators.get(name, set())

    def readers_past(
        self, name: str, passed: Callable[[Node], bool]
    ) -> tuple[list[Node], set[str]]:
        """The nodes that read a tensor, past some that hand its elements on.

        Args:
            name: of the tensor.
            passed: whether a node's readers count in its place.

        Returns:
            The nodes, and the tensors that they read.
        """
        found, tensors, names = [], {name}, [name]
        while names:
            for node in self._reading.get(names.pop(), ()):
                if passed(node):
                    names += [each for each in node.output if each not in tensors]
                    tensors.update(node.output)
                else:
                    found.append(node)
        return found, tensors

    @cached_property
    def _outputs(self) -> set[str]:
        return {entry.name for graph in self._graphs for entry in graph.outputs}

    @cached_property
    def _giving(self) -> dict[str, Node]:
        return {name: node for graph in self._graphs for node in graph.node for name in node.output}

    @cached_property
    def _operators(self) -> dict[str, set[str]]:
        return {name: {node.op_type for node in nodes} for name, nodes in self._reading.items()}

    @cached_property
    def _reading(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for graph in self._graphs:
            for node in graph.node:
                for name in {*node.input}:
                    found.setdefault(name, []).append(node)
        return found
