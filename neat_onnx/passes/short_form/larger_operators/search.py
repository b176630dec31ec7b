"""Search: a graph in which groups of nodes are looked for, from a node back to its sources."""

from collections.abc import Callable, Iterator, Sequence
from math import inf, prod
from typing import Any

import numpy as np

from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.passes.draft import Draft, attributes_of, copied, is_one_of, make_node
from neat_onnx.passes.elementwise import is_elementwise

Sizes = tuple[int, ...]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
_AXES_ARE_READ = 18  # the opset from which on all reductions read their axes
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

    def __init__(self, model: Model, *, largest: bool, tensors: Sequence[str] = ()) -> None:
        self.draft, self.largest = Draft(model), largest
        self._stand = {name: place for place, name in enumerate(tensors)}
        self.made = self.draft.producers
        self.orders: dict[tuple[str, int, int], tuple[str, str]] = {}

    def stands_before(self, name: str, other: str) -> bool:
        """Whether one tensor is known to have its neurons before another in the genome."""
        return self._stand.get(name, inf) < self._stand.get(other, -inf)

    def node(self, operator: str, reads: list[str], gives: list[str], **attributes: object) -> Node:
        """A new node, of the model's opset."""
        return make_node(operator, reads, gives, attributes, opset=self.draft.model.opset)

    def reduced(
        self, operator: str, source: str, axes: list[int], end: str, *, keepdims: bool = False
    ) -> Node:
        """A reduction of a tensor along axes, the batch being 0."""
        kept = int(keepdims)
        if operator != "ReduceSum" and self.draft.model.opset < _AXES_ARE_READ:
            return self.node(operator, [source], [end], axes=axes, keepdims=kept)
        return self.node(
            operator, [source, self.draft.constant("axes", axes)], [end], keepdims=kept
        )

    def cast(self, places: str, end: str, source: str) -> Node:
        """Places in a tensor as numbers of its own type."""
        return self.node("Cast", [places], [end], to=int(self.kind(source)))

    def integers(self, name: str) -> Node:
        """Numbers cut off to integers, under a new name."""
        whole = self.draft.name("whole")
        return self.node("Cast", [name], [whole], to=int(DataType.INT64))

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
        biases = [self.constant(name) for name in node.input[2:]]
        shifted = any(each is None or each.values.any() for each in biases)
        return None if shifted else self.weights(node)

    def weights(self, node: Node) -> np.ndarray | None:
        """The constant by whose rows a Gemm multiplies, whatever its bias."""
        if not is_one_of(node, "Gemm") or attributes_of(node).get("transB") != 1:
            return None
        weights = self.constant(node.input[1])
        scaled = {attributes_of(node).get(name, 1.0) for name in ("alpha", "beta")} != {1.0}
        if weights is None or scaled:
            return None
        return np.asarray(weights.values).reshape(weights.dims)

    def constant(self, name: str) -> Tensor | None:
        """The constant that a tensor is, or that it is in another type, or times other numbers."""
        node = self.made.get(name)
        if node is not None and is_one_of(node, "Mul") and node.input[1] in self.draft.tensors:
            return self._scaled(*node.input)
        source = node.input[0] if node is not None and is_one_of(node, "Cast") else name
        return self.draft.tensors.get(source)

    def _scaled(self, name: str, factor: str) -> Tensor | None:
        """A constant times one number, or times numbers along its axes."""
        whole, factors = self.constant(name), self.draft.tensors[factor]
        if whole is None:
            return None
        numbers = np.asarray(factors.values, np.float64).reshape(factors.dims)
        values = np.asarray(whole.values).reshape(whole.dims)
        if numbers.size == 1:
            return Tensor.of("", values * numbers.item(), DataType.DOUBLE)
        scaled = values * numbers
        return Tensor.of("", scaled, DataType.DOUBLE) if scaled.shape == values.shape else None

    def rearranged(self, name: str) -> str:
        """The tensor whose elements another one has in some order, times one number or as they are.

        A Gemm whose weights are one number in each row and column has them so.
        """
        node = self.made.get(name)
        if node is not None and is_one_of(node, "Mul"):
            others = [each for each in node.input if not self.is_number(each)]
            return others[0] if len(others) == 1 else name
        copies = None if node is None else self.copies(node)
        if node is None or copies is None or self.draft.axes(node.input[0]) != copies[0].shape:
            return name
        return node.input[0] if len(np.unique(copies[0])) == copies[0].size else name

    def copies(self, gemm: Node) -> tuple[Ints, float] | None:
        """The columns that a Gemm copies, times one number, and the number; None if it adds any."""
        weights = self.matrix(gemm)
        if weights is None or np.any(np.count_nonzero(weights, axis=1) != 1):
            return None
        factors = np.unique(weights[weights != 0])
        return (np.argmax(weights != 0, axis=1), float(factors[0])) if len(factors) == 1 else None

    def copied(self, name: str) -> str:
        """The tensor that others are Identities of."""
        while (node := self.made.get(name)) is not None and is_one_of(node, "Identity"):
            name = node.input[0]
        return name

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

    def number(self, name: str) -> float | None:
        """The one constant number that a tensor is."""
        return float(self.draft.tensors[name].values.item()) if self.is_number(name) else None

    def are_places(self, name: str) -> bool:
        """Whether the elements of a constant are 0, 1, …"""
        tensor = self.draft.tensors.get(name)
        return tensor is not None and np.array_equal(tensor.values.ravel(), range(tensor.size))

    def end(self, name: str) -> tuple[str, bool]:
        """The tensor that one becomes in its last shape, and whether a Transpose is on the way."""
        return self.ends(name)[-1]

    def ends(self, name: str) -> list[tuple[str, bool]]:
        """A tensor, and those that it becomes in other shapes where it alone does, one after the
        other, each with whether a Transpose is on the way.
        """
        found, turned = [(name, False)], False
        while (at := self.draft.sole_reader(name)) is not None:
            reader = self.draft.model.graph.node[at]
            if not self.moves(reader):
                break
            turned |= is_one_of(reader, "Transpose", "Gather")
            name = reader.output[0]
            found.append((name, turned))
        return found

    def shapes_of(self, name: str) -> Iterator[str]:
        """Yield a tensor, and those that it is another shape of."""
        yield name
        for node in self.before(name):
            if not self.moves(node):
                return
            yield node.input[0]

    def moves(self, node: Node) -> bool:
        """Whether a node hands all elements on, in another shape or order."""
        if not is_one_of(node, "Gather"):
            return is_one_of(node, *_SHAPES)
        places = self.gathered(node)
        return places is not None and np.array_equal(np.sort(places), range(places.size))

    def gathered(self, node: Node) -> Ints | None:
        """The places along the axis behind the batch that a Gather takes."""
        if not is_one_of(node, "Gather") or attributes_of(node).get("axis") != 1:
            return None
        places = self.draft.tensors.get(node.input[1])
        return None if places is None or len(places.dims) != 1 else np.asarray(places.values)

    def columns(self, node: Node) -> Ints | None:
        """The same of a tensor [N, width], whose elements they are."""
        is_flat = len(self.draft.axes(node.input[0]) or ()) == 1
        return self.gathered(node) if is_flat else None

    def changed(self, name: str, changes: list[Node]) -> list[Node]:
        """Copies of nodes with one computed input each, the last one first, that change another
        tensor.
        """
        nodes = []
        for change in changes[::-1]:
            reads = [
                each if not each or each in self.draft.tensors else name for each in change.input
            ]
            name = self.draft.name(change.output[0])
            nodes.append(copied(change, name="", input=reads, output=[name]))
        return nodes

    def chained(self, name: str, nodes: list[Node]) -> list[Node]:
        """The nodes, each reading the result of the one before, the first one a tensor.

        They all give the same name, which the last one keeps.
        """
        found = []
        for node in nodes:
            result = node.output[0] if node is nodes[-1] else self.draft.name(node.output[0])
            found.append(copied(node, input=[name, *node.input[1:]], output=[result]))
            name = result
        return found

    def axes_before(self, name: str) -> tuple[list[Node], str, Sizes]:
        """A tensor in its own axes, or if it is flat in those that it had, as of `in_axes`."""
        sizes = self.draft.axes(name) or ()
        return self.in_axes(name, *sizes) if len(sizes) == 1 else ([], name, sizes)

    def axes_after(self, name: str) -> Sizes:
        """The axes of a tensor, or if it is flat those that it gets later."""
        sizes = found = self.draft.axes(name) or ()
        while len(found) == 1 and (at := self.draft.sole_reader(name)) is not None:
            reader = self.draft.model.graph.node[at]
            if not (is_elementwise(reader) or is_one_of(reader, "Reshape")):
                break
            name = reader.output[0]
            found = self.draft.axes(name) or ()
        return found if prod(found) == prod(sizes) else sizes

    def in_shape(self, name: str, sizes: Sizes) -> tuple[list[Node], str]:
        """The node that gives a tensor these axes, if it has others, and the name of the result."""
        if self.draft.axes(name) == sizes:
            return [], name
        shaped, shape = self.draft.name(f"{name}_axes"), self.draft.constant("shape", [0, *sizes])
        return [self.node("Reshape", [name, shape], [shaped])], shaped

    def shaped(self, name: str, end: str) -> Node:
        """The node that gives a tensor the shape of another one, in its place."""
        sizes = self.draft.axes(end) or ()
        if len(sizes) == 1:
            return self.node("Flatten", [name], [end], axis=1)
        shape = self.draft.constant("shape", [0, *sizes])
        return self.node("Reshape", [name, shape], [end])

    def in_axes(self, name: str, size: int) -> tuple[list[Node], str, Sizes]:
        """A tensor of so many elements in the axes that it had before it was made flat.

        Returns:
            The node that turns it into these, if one has to; its name; the sizes of its axes.
        """
        for node in self.before(name):
            if is_one_of(node, "Flatten", "Reshape"):
                sizes = self.draft.axes(node.input[0])
                if sizes is None or prod(sizes) != size:
                    break
                if node.output[0] == name:
                    return [], node.input[0], sizes
                turned = self.draft.name(f"{name}_axes")
                reads = [name, self.draft.constant("shape", [0, *sizes])]
                return [self.node("Reshape", reads, [turned])], turned, sizes
            if not is_elementwise(node):
                break
        return [], name, (size,)


Found = tuple[str, list[Node]]
"""The name of a tensor, and the nodes that make it in place of those that did."""
Finder = Callable[[Search, Node], Found | None]
"""Looks for a group that ends in a node."""
