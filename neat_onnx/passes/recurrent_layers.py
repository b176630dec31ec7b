"""The recurrent layers of a graph, and the inputs of the graph that they run along."""

from collections.abc import Iterator, Sequence

from neat_onnx.model import Model, Node
from neat_onnx.passes.elementwise import is_elementwise

Axes = tuple[int, ...]

_RECURRENT = ("RNN", "GRU", "LSTM")
_KEPT = frozenset({"Dropout", "LayerNormalization", "MatMul", "PRelu"})
"""Operators whose first input that is no constant has its axes where the output has them, besides
elementwise ones."""


def is_recurrent(node: Node) -> bool:
    """Whether a node is RNN, GRU or LSTM."""
    return node.op_type in _RECURRENT and not node.domain and bool(node.input)


class RecurrentLayers:
    """The recurrent layers of a model, each a node.

    Attributes:
        nodes: the layers, in order.
        made: the node that computes each tensor; constants are left out.
        entries: the graph inputs by name, without those that are constant.
    """

    def __init__(self, model: Model) -> None:
        graph, constant = model.graph, {tensor.name for tensor in model.graph.initializer}
        self.nodes = [node for node in graph.node if is_recurrent(node)]
        self.made = {
            name: node
            for node in graph.node
            if any(each not in constant for each in node.input)
            for name in node.output
        }
        self.entries = {entry.name: entry for entry in graph.inputs if entry.name not in constant}

    def input_of(self, node: Node) -> tuple[str, Axes | None]:
        """The graph input that a layer runs along, and its axes of time and the batch."""
        axes = (1, 0) if node.given_attributes.get("layout") else (0, 1)
        for name, perm in self._path(node.input[0]):
            if perm is not None:
                if sorted(perm) != [*range(len(perm))] or max(axes) >= len(perm):
                    return name, None
                axes = (perm[axes[0]], perm[axes[1]])
            if name in self.entries:
                rank = len(self.entries[name].shape or ())
                return name, axes if max(axes) < rank else None
        return "", None

    def has_open_sequence(self, node: Node) -> bool:
        """Whether a layer runs along an axis of a graph input that has no fixed size."""
        name, axes = self.input_of(node)
        return axes is not None and not isinstance((self.entries[name].shape or ())[axes[0]], int)

    def sources(self, name: str) -> set[str]:
        """The graph inputs, and outputs of layers, that a tensor is computed from."""
        found: set[str] = set()
        seen, waiting = {name}, [name]
        while waiting:
            tensor = waiting.pop()
            node = self.made.get(tensor)
            if tensor in self.entries or (node is not None and is_recurrent(node)):
                found.add(tensor)
            elif node is not None:
                new = [each for each in node.input if each and each not in seen]
                seen.update(new)
                waiting += new
        return found

    def _path(self, name: str) -> Iterator[tuple[str, Sequence[int] | None]]:
        """The tensors from one back to a graph input, and the orders of axes on the way."""
        perm: Sequence[int] | None = None
        while True:
            yield name, perm
            node = self.made.get(name)
            if node is None:
                return
            perm, reads = None, [each for each in node.input if self._is_computed(each)]
            if node.op_type == "Transpose":
                perm = node.given_attributes.get("perm")
                if perm is None:
                    return
            elif node.op_type == "Gather" and not node.given_attributes.get("axis"):  # an embedding
                reads = reads[-1:] if reads[-1:] == [*node.input[1:]] else []
            elif node.op_type not in _KEPT and not is_elementwise(node):
                return
            if not reads:
                return
            name = reads[0]

    def _is_computed(self, name: str) -> bool:
        return name in self.made or name in self.entries
