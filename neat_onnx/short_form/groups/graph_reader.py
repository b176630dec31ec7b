"""GraphReader: the nodes and constants of a graph in which groups of nodes are looked for."""

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from neat_onnx.model import DataType, Node, Tensor
from neat_onnx.passes.draft import Draft, is_one_of
from neat_onnx.short_form.columns import places_of

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
_AXES_OF_MATRIX = 2
_SAME_ORDER = ("Identity", "Reshape", "Flatten")
_SHAPES = (*_SAME_ORDER, "Transpose")


class GraphReader:
    """The graph of a model.

    Attributes:
        draft: the model.
        made: the node that makes each tensor, by its name.
        element: the type of the inputs, which is that of all numbers in an export.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft, self.made = draft, draft.producers
        self.element = draft.model.graph.number_type

    def kind(self, name: str) -> DataType:
        """The type of a tensor's elements; of one that is new, that of all numbers."""
        return self.draft.facts(name).elem_type or self.element

    def before(self, name: str) -> Iterator[Node]:
        """Yield the nodes on the way to a tensor, from its maker on, along first computed inputs.

        The way is as long as the graph: callers stop where no group can be.
        """
        node = self.made.get(name)
        while node is not None:
            yield node
            name = next((each for each in node.input if each not in self.draft.tensors), "")
            node = self.made.get(name)

    def computing(self, name: str) -> Iterator[Node]:
        """Yield the nodes on the way to a tensor that do more than move elements, as `before`."""
        return (node for node in self.before(name) if not self.moves(node))

    def computed_by(self, name: str) -> Node | None:
        """The first of them, which computes the elements of the tensor."""
        return next(self.computing(name), None)

    def matrix(self, node: Node) -> np.ndarray | None:
        """The constant by whose rows a Gemm without bias multiplies."""
        biases = [self.constant(name) for name in node.input[2:]]
        shifted = any(each is None or each.values.any() for each in biases)
        return None if shifted else self.weights(node)

    def constants_of(self, name: str) -> np.ndarray | None:
        """The values of neurons that weigh their inputs with 0."""
        way = (node for node in self.before(name) if not is_one_of(node, *_SAME_ORDER))
        node = next(way, None)
        if node is None or not is_one_of(node, "Gemm") or node.given_attributes.get("transB") != 1:
            return None
        weights, *biases = (self.draft.tensors.get(each) for each in node.input[1:])
        if weights is None or weights.values.any() or None in biases:
            return None
        none = np.zeros(weights.dims[0])
        return none + sum(each.values for each in biases if each is not None)

    def weights(self, node: Node) -> np.ndarray | None:
        """The constant matrix by whose rows a Gemm multiplies, whatever its bias."""
        if not is_one_of(node, "Gemm") or node.given_attributes.get("transB") != 1:
            return None
        weights = self.constant(node.input[1])
        scaled = {node.given_attributes.get(name, 1.0) for name in ("alpha", "beta")} != {1.0}
        if weights is None or scaled or len(weights.dims) != _AXES_OF_MATRIX:
            return None
        return np.asarray(weights.values).reshape(weights.dims)

    def factor(self, node: Node, position: int) -> Floats | None:
        """The constant matrix that is a factor of a MatMul."""
        found = self.constant(node.input[position]) if is_one_of(node, "MatMul") else None
        if found is None or len(found.dims) != _AXES_OF_MATRIX:
            return None
        return np.asarray(found.values, np.float64).reshape(found.dims)

    def constant(self, name: str) -> Tensor | None:
        """The constant that a tensor is, or that it is in another type, or times other numbers."""
        product, cast = self.draft.maker(name, "Mul"), self.draft.maker(name, "Cast")
        if product is not None and product.input[1] in self.draft.tensors:
            return self._scaled(*product.input)
        return self.draft.tensors.get(name if cast is None else cast.input[0])

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

    def size(self, name: str) -> int:
        """The number of elements of a tensor; 0 if it is not known."""
        sizes = self.draft.axes(name)
        return 0 if sizes is None else prod(sizes)

    def origin(self, name: str) -> tuple[str, Ints]:
        """The tensor that the elements of one were moved from, and their places in it.

        It may be an Identity of another: the name of its own is that of its neurons.
        """
        order: Ints = np.arange(self.size(name))
        while (node := self.made.get(self.copied(name))) is not None and node.input:
            places = places_of(self.draft, node)
            if places is None:
                break
            name, order = node.input[0], places[order]
        return name, order

    def copied(self, name: str) -> str:
        """The tensor that others are Identities of."""
        return self.draft.behind(name, "Identity")

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

    def are_indices(self, name: str) -> bool:
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
        indices = self.gathered(node)
        return indices is not None and np.array_equal(np.sort(indices), range(indices.size))

    def gathered(self, node: Node | None) -> Ints | None:
        """The indices along the axis behind the batch that a Gather takes."""
        if node is None or not is_one_of(node, "Gather") or node.given_attributes.get("axis") != 1:
            return None
        indices = self.draft.tensors.get(node.input[1])
        return None if indices is None or len(indices.dims) != 1 else np.asarray(indices.values)

    def columns(self, node: Node) -> Ints | None:
        """The elements of a tensor [N, width] that a Gather takes."""
        is_flat = len(self.draft.axes(node.input[0]) or ()) == 1
        return self.gathered(node) if is_flat else None
