"""Search: a graph in which groups of nodes are looked for, from a node back to its sources."""

from collections.abc import Callable, Iterator

import numpy as np

from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.passes.draft import Draft, attributes_of, is_one_of, make_node

_SHAPES = ("Identity", "Reshape", "Flatten", "Transpose")


class Search:
    """The graph of a model, and the constants of the new nodes.

    Attributes:
        draft: the model, with new constants.
        largest: orders begin with the largest elements, and extremes are the largest.
        made: the node that makes each tensor, by its name.
        orders: the names of elements and places of each TopK, by the tensor, the axis and the
            number of elements.
    """

    def __init__(self, model: Model, *, largest: bool) -> None:
        self.draft, self.largest = Draft(model), largest
        self.made = {name: node for node in model.graph.node for name in node.output}
        self.orders: dict[tuple[str, int, int], tuple[str, str]] = {}
        self._readers: dict[str, list[Node]] = {}
        for node in model.graph.node:
            for name in node.input:
                self._readers.setdefault(name, []).append(node)
        self._wanted = {entry.name for entry in model.graph.outputs}

    def node(self, operator: str, reads: list[str], gives: list[str], **attributes: object) -> Node:
        """A new node, of the model's opset."""
        return make_node(operator, reads, gives, attributes, opset=self.draft.model.opset)

    def cast(self, places: str, end: str, source: str) -> Node:
        """Places in a tensor as numbers of its own type."""
        return self.node("Cast", [places], [end], to=int(self.kind(source)))

    def kind(self, name: str) -> DataType:
        """The type of a tensor's elements."""
        return self.draft.facts(name).elem_type or DataType.FLOAT

    def before(self, name: str) -> Iterator[Node]:
        """Yield the nodes on the way to a tensor, from its maker on, along first computed inputs.

        The way is as long as the graph: callers stop where no group can be.
        """
        node = self.made.get(name)
        while node is not None:
            yield node
            name = next((each for each in node.input if each not in self.draft.tensors), "")
            node = self.made.get(name)

    def matrix(self, node: Node) -> np.ndarray | None:
        """The constant by whose rows a Gemm without bias multiplies."""
        if not is_one_of(node, "Gemm") or attributes_of(node).get("transB") != 1:
            return None
        weights, *biases = (self.constant(name) for name in node.input[1:])
        scaled = {attributes_of(node).get(name, 1.0) for name in ("alpha", "beta")} != {1.0}
        if weights is None or scaled or any(each is None or each.values.any() for each in biases):
            return None
        return np.asarray(weights.values).reshape(weights.dims)

    def constant(self, name: str) -> Tensor | None:
        """The constant that a tensor is, or that it is in another type."""
        node = self.made.get(name)
        source = node.input[0] if node is not None and is_one_of(node, "Cast") else name
        return self.draft.tensors.get(source)

    def unchanged(self, name: str) -> str:
        """The tensor that another one is a copy of, as a sum of it alone, or a weight of 1."""
        node = self.made.get(name)
        if node is None:
            return name
        if is_one_of(node, "Sum") and len(node.input) == 1:
            return node.input[0]
        weights = self.matrix(node)
        if weights is not None and np.array_equal(weights, [[1]]):
            return node.input[0]
        if not is_one_of(node, "Add") or node.input[1] not in self.draft.tensors:
            return name
        return name if self.draft.tensors[node.input[1]].values.any() else node.input[0]

    def is_number(self, name: str) -> bool:
        """Whether a tensor is one constant number."""
        tensor = self.draft.tensors.get(name)
        return tensor is not None and tensor.size == 1

    def are_places(self, name: str) -> bool:
        """Whether the elements of a constant are 0, 1, …"""
        tensor = self.draft.tensors.get(name)
        return tensor is not None and np.array_equal(tensor.values.ravel(), range(tensor.size))

    def end(self, name: str) -> tuple[str, bool]:
        """The tensor that one becomes in its last shape, and whether a Transpose is on the way."""
        turned = False
        while name not in self._wanted and len(self._readers.get(name, ())) == 1:
            (reader,) = self._readers[name]
            if not moves(reader):
                break
            turned |= is_one_of(reader, "Transpose")
            name = reader.output[0]
        return name, turned

    def shapes_of(self, name: str) -> Iterator[str]:
        """Yield a tensor, and those that it is another shape of."""
        yield name
        for node in self.before(name):
            if not moves(node):
                return
            yield node.input[0]


Found = tuple[str, list[Node]]
"""The name of a tensor, and the nodes that make it in place of those that did."""
Finder = Callable[[Search, Node], Found | None]
"""Looks for a group that ends in a node."""


def moves(node: Node) -> bool:
    """Whether a node hands all elements on, in another shape or order."""
    return is_one_of(node, *_SHAPES)
