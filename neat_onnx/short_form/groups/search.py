"""Search: a graph in which groups of nodes are looked for, from a node back to its sources."""

from collections.abc import Callable
from math import prod

from neat_onnx.model import DataType, Model, Node
from neat_onnx.passes.draft import Draft, copied, is_one_of
from neat_onnx.passes.elementwise import is_elementwise
from neat_onnx.short_form.columns import Sizes
from neat_onnx.short_form.groups.graph_reader import Floats, GraphReader, Ints
from neat_onnx.short_form.groups.weighted_sums import WeightedSums

__all__ = ["Finder", "Floats", "Found", "Ints", "Search", "Sizes"]
_AXES_ARE_READ = 18  # the opset from which on all reductions read their axes


class Search(GraphReader):
    """The graph of a model, and the constants of the new nodes.

    Attributes:
        draft: the model, with new constants.
        has_order: whether something was found that the order of elements matters to.
        orders: the names of elements and indices of each TopK, by the tensor, the axis and the
            number of elements.
    """

    def __init__(self, model: Model, *, largest: bool) -> None:
        super().__init__(Draft(model))
        self.has_order = False
        self.orders: dict[tuple[str, int, int], tuple[str, str]] = {}
        self._largest, self._sums = largest, WeightedSums(self)

    @property
    def largest(self) -> bool:
        """Whether orders begin with the largest elements, and extremes are the largest."""
        self.has_order = True
        return self._largest

    @property
    def sums(self) -> WeightedSums:
        """The weighted sums of the graph, those that are known already until they are many."""
        if self._sums.is_full:
            self._sums = WeightedSums(self)
        return self._sums

    def reduced(
        self, operator: str, source: str, axes: list[int], end: str, *, keepdims: bool = False
    ) -> Node:
        """A reduction of a tensor along axes, the batch being 0."""
        kept = int(keepdims)
        if operator != "ReduceSum" and self.draft.model.opset < _AXES_ARE_READ:
            return self.draft.node(operator, [source], [end], axes=axes, keepdims=kept)
        return self.draft.node(
            operator, [source, self.draft.constant("axes", axes)], [end], keepdims=kept
        )

    def cast(self, indices: str, end: str, source: str) -> Node:
        """Places in a tensor as numbers of its own type."""
        return self.draft.node("Cast", [indices], [end], to=int(self.kind(source)))

    def integers(self, name: str) -> Node:
        """Numbers cut off to integers, under a new name."""
        whole = self.draft.name("whole")
        return self.draft.node("Cast", [name], [whole], to=int(DataType.INT64))

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
        return [self.draft.node("Reshape", [name, shape], [shaped])], shaped

    def shaped(self, name: str, end: str) -> Node:
        """The node that gives a tensor the shape of another one, in its place."""
        sizes = self.draft.axes(end) or ()
        if len(sizes) == 1:
            return self.draft.node("Flatten", [name], [end], axis=1)
        shape = self.draft.constant("shape", [0, *sizes])
        return self.draft.node("Reshape", [name, shape], [end])

    def in_place(self, end: str, sizes: Sizes) -> tuple[str, list[Node]]:
        """The name of a tensor of these axes that comes in the place of another one, and the node
        behind it that gives it that one's shape, if this is another.
        """
        if self.draft.axes(end) == sizes:
            return end, []
        made = self.draft.name(end)
        return made, [self.shaped(made, end)]

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
                return [self.draft.node("Reshape", reads, [turned])], turned, sizes
            if not is_elementwise(node):
                break
        return [], name, (size,)


Found = tuple[str, list[Node]]
"""The name of a tensor, and the nodes that make it in place of those that did."""
Finder = Callable[[Search, Node], Found | None]
"""Looks for a group that ends in a node."""
