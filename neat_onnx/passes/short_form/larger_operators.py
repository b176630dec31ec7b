"""Groups of nodes replaced by one operator each, as TopK, ArgMax, CumSum, ReduceL2, Div or Where.

Import makes many neurons of each of them, and export many nodes of the neurons. A replacement is
likely, not certain: the caller keeps it if import makes the same network of it.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from neat_onnx.model import DataType, Model, Node
from neat_onnx.passes.draft import Draft, attributes_of, is_one_of, make_node
from neat_onnx.passes.drop_dead import drop_dead

_SHAPES = ("Identity", "Reshape", "Flatten", "Transpose")
_BETWEEN = ("Cast", "Concat", "Mul", *_SHAPES)  # a chooser and the comparisons of an order
_CHOOSERS = ("MatMul", "Gemm", "ReduceSum")
_FIRST_OF_EQUAL = ("Cast", "Conv", "Greater", *_SHAPES)  # chooses one of equal extremes
_CONDITIONS = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "And", "Or", "Xor")
_SIDES = 2  # of a choice
_FEWEST = 3  # elements that are accumulated
_AXES_ARE_READ = 18  # the opset from which on ReduceL2 reads its axes


def with_larger_operators(model: Model, *, largest: bool) -> Model:
    """The model with one operator in the place of each group of nodes, itself if there is none.

    Args:
        model: nodes in topological order, without graphs inside of them.
        largest: orders begin with the largest elements, and extremes are the largest.
    """
    if not any(is_one_of(node, "Add", "Conv", *_CHOOSERS) for node in model.graph.node):
        return model
    groups = _Groups(model, largest=largest)
    for node in model.graph.node:
        groups.look_at(node)
    if not groups.found:
        return model
    nodes = [each for node in model.graph.node for each in groups.found.get(node.output[0], [node])]
    return model.model_copy(update={"graph": drop_dead(groups.draft.finished(nodes).graph)})


class _Groups:
    """The groups found so far.

    Attributes:
        draft: the model, with new constants.
        found: the nodes that make a tensor, by its name.
    """

    def __init__(self, model: Model, *, largest: bool) -> None:
        self.draft, self._largest = Draft(model), largest
        self.found: dict[str, list[Node]] = {}
        self._made = {name: node for node in model.graph.node for name in node.output}
        self._readers: dict[str, list[Node]] = {}
        for node in model.graph.node:
            for name in node.input:
                self._readers.setdefault(name, []).append(node)
        self._wanted = {entry.name for entry in model.graph.outputs}
        self._orders: dict[tuple[str, int, int], tuple[str, str]] = {}

    def look_at(self, node: Node) -> None:
        """Find a group that ends in a node."""
        if is_one_of(node, "Sqrt"):
            self._norm(node)
        elif is_one_of(node, "Mul"):
            self._quotient(node)
        elif is_one_of(node, "Conv"):
            self._places(node)
        elif is_one_of(node, "Add"):
            self._choice(node)
        elif is_one_of(node, *_CHOOSERS):
            weights = self._matrix(node)
            if weights is not None and len(weights) >= _FEWEST and _is_triangle(weights):
                reads = [node.input[0], self.draft.constant("axis", [1])]
                self._replace(node.output[0], self._node("CumSum", reads, node.output))
            elif not self._choice(node):
                self._order(node)

    def _replace(self, name: str, *nodes: Node) -> None:
        self.found[name] = [*nodes]

    def _node(
        self, operator: str, reads: list[str], gives: list[str], **attributes: object
    ) -> Node:
        return make_node(operator, reads, gives, attributes, opset=self.draft.model.opset)

    def _cast(self, places: str, end: str, source: str) -> Node:
        """Places in a tensor as numbers of its own type."""
        kind = self.draft.facts(source).elem_type or DataType.FLOAT
        return self._node("Cast", [places], [end], to=int(kind))

    def _before(self, name: str) -> Iterator[Node]:
        """The nodes on the way to a tensor, from its maker on, along the first computed inputs.

        The way is as long as the graph: callers stop where no group can be.
        """
        node = self._made.get(name)
        while node is not None:
            yield node
            name = next((each for each in node.input if each not in self.draft.tensors), "")
            node = self._made.get(name)

    def _matrix(self, node: Node) -> np.ndarray | None:
        """The constant by whose rows a Gemm without bias multiplies."""
        if not is_one_of(node, "Gemm") or attributes_of(node).get("transB") != 1:
            return None
        weights, *biases = (self.draft.tensors.get(name) for name in node.input[1:])
        scaled = {attributes_of(node).get(name, 1.0) for name in ("alpha", "beta")} != {1.0}
        if weights is None or scaled or any(each is None or each.values.any() for each in biases):
            return None
        return np.asarray(weights.values).reshape(weights.dims)

    def _norm(self, root: Node) -> None:
        """The root of a sum of squares is a norm."""
        sums, squares = [*islice(self._before(root.input[0]), 2), root, root][:2]
        weights = self._matrix(sums)
        if weights is None or len(weights) != 1 or not (weights == 1).all():
            return
        if not is_one_of(squares, "Mul") or squares.input[0] != squares.input[1]:
            return
        reads, attributes = [self._unchanged(squares.input[0])], {"keepdims": 1}
        if self.draft.model.opset < _AXES_ARE_READ:
            node = self._node("ReduceL2", reads, root.output, axes=[1], **attributes)
        else:
            reads = [*reads, self.draft.constant("axes", [1])]
            node = self._node("ReduceL2", reads, root.output, **attributes)
        self._replace(root.output[0], node)

    def _unchanged(self, name: str) -> str:
        """The tensor that another one is a copy of, as a sum with zeros, or a weight of 1."""
        node = self._made.get(name)
        if node is None:
            return name
        weights = self._matrix(node)
        if weights is not None and np.array_equal(weights, [[1]]):
            return node.input[0]
        if not is_one_of(node, "Add") or node.input[1] not in self.draft.tensors:
            return name
        return name if self.draft.tensors[node.input[1]].values.any() else node.input[0]

    def _quotient(self, product: Node) -> None:
        """A product by a reciprocal that stands beside each element is a quotient."""
        for whole, share in (product.input, product.input[::-1]):
            way = (node for node in self._before(share) if not self._repeats(node))
            inverse = next(way, None)
            if inverse is not None and is_one_of(inverse, "Reciprocal"):
                reads = [self._unchanged(name) for name in (whole, inverse.input[0])]
                self._replace(product.output[0], self._node("Div", reads, product.output))
                return

    def _repeats(self, node: Node) -> bool:
        """Whether a node copies its input, or the first column of it."""
        places = self.draft.tensors.get(node.input[1]) if is_one_of(node, "Gather") else None
        return is_one_of(node, "Identity") or (places is not None and not places.values.any())

    def _choice(self, node: Node) -> bool:
        """Whether a sum of two products, by a condition and by its opposite, is a Where."""
        terms = self._terms(node)
        sides = [self._side(name) for name in terms]
        if len(sides) != _SIDES or None in sides:
            return False
        chosen = {holds: (condition, name) for condition, holds, name in filter(None, sides)}
        if len(chosen) != _SIDES or not self._is_same(chosen[True][0], chosen[False][0]):
            return False
        reads = [chosen[True][0], *(self._alone(chosen[holds][1]) for holds in (True, False))]
        self._replace(node.output[0], self._node("Where", reads, node.output))
        return True

    def _alone(self, name: str) -> str:
        """A tensor, or the number that it holds alone."""
        tensor = self.draft.tensors.get(name)
        if tensor is None or tensor.size != 1:
            return name
        return self.draft.constant("number", tensor.values.reshape(()), tensor.data_type)

    def _is_same(self, one: str, other: str) -> bool:
        """Whether two conditions are one."""
        makers = [self._made[name] for name in (one, other)]
        return len({(maker.op_type, *maker.input) for maker in makers}) == 1

    def _terms(self, node: Node) -> list[str]:
        """The tensors that are added by a node, an Add or a Gemm of ones side by side."""
        if is_one_of(node, "Add"):
            return node.input
        weights, joined = self._matrix(node), self._made.get(node.input[0])
        if weights is None or joined is None or not is_one_of(joined, "Concat"):
            return []
        both = np.hstack([np.eye(len(weights))] * _SIDES)
        return joined.input if np.array_equal(weights, both) else []

    def _side(self, name: str) -> tuple[str, bool, str] | None:
        """The condition of a product, whether it has to hold, and the other factor."""
        way = (node for node in self._before(name) if not is_one_of(node, "Identity"))
        product = next(way, None)
        if product is None or not is_one_of(product, "Mul"):
            return None
        for cast, other in (product.input, product.input[::-1]):
            made = self._made.get(cast)
            if made is not None and is_one_of(made, "Cast"):
                condition = self._made.get(made.input[0])
                if condition is not None and is_one_of(condition, "Not"):
                    return condition.input[0], False, other
                if condition is not None and is_one_of(condition, *_CONDITIONS):
                    return made.input[0], True, other
        return None

    def _order(self, chooser: Node) -> None:
        """Elements chosen by an order, or their places, are outputs of a TopK."""
        way = self._before(chooser.output[0])
        next(way)
        while (node := next(way, None)) is not None and is_one_of(node, *_BETWEEN):
            pass
        if node is None or not is_one_of(node, "Equal", "Hardmax"):
            return
        end, turned = self._end(chooser.output[0])
        places = is_one_of(chooser, "MatMul", "Gemm") and chooser.input[1] in self.draft.tensors
        source = self._first([node, *way])
        if source is None:
            return
        for name in self._shapes_of(source):
            order = self._sizes(name, end, turned=turned)
            if order is not None:
                self._take(name, order, end, places=places)
                return

    def _take(self, source: str, order: tuple[int, int], end: str, *, places: bool) -> None:
        """Make a tensor by the TopK of another one, with the others that it makes."""
        axis, count = order
        names, nodes = self._orders.get((source, axis, count)), list[Node]()
        if names is None:
            names = self.draft.name("top"), self.draft.name("places")
            self._orders[source, axis, count] = names
            reads = [source, self.draft.constant("count", [count])]
            attributes = {"axis": axis, "largest": int(self._largest)}
            nodes.append(self._node("TopK", reads, [*names], **attributes))
        if places:
            nodes.append(self._cast(names[1], end, source))
        else:
            nodes.append(self._node("Identity", [names[0]], [end]))
        self._replace(end, *nodes)

    def _places(self, chooser: Node) -> None:
        """Places 0, 1, … weighed by a choice of the first extreme are an ArgMax or an ArgMin."""
        weights = self.draft.tensors.get(chooser.input[1])
        if weights is None or not np.array_equal(weights.values.ravel(), range(weights.size)):
            return
        way = self._before(chooser.output[0])
        while (node := next(way, None)) is not None and is_one_of(node, *_FIRST_OF_EQUAL):
            pass
        least = self._made.get(node.input[0]) if node and is_one_of(node, "Equal") else None
        if least is None:
            return
        end, _ = self._end(chooser.output[0])
        for name in [*self._shapes_of(least.input[0])][::-1]:  # the first has the model's order
            found = self._reduced(name, end)
            if found is not None:
                axis, kept = found
                operator, places = ("ArgMin", "ArgMax")[self._largest], self.draft.name("places")
                node = self._node(operator, [name], [places], axis=axis, keepdims=kept)
                self._replace(end, node, self._cast(places, end, name))
                return

    def _reduced(self, source: str, end: str) -> tuple[int, int] | None:
        """The axis along which a tensor is reduced to another one, and whether it stays, as 1."""
        whole, part = (self.draft.facts(name).shape for name in (source, end))
        if whole is None:
            return None
        for axis in range(1, len(whole)):
            before, behind = whole[:axis], whole[axis + 1 :]
            if part in {(*before, *behind), (*before, 1, *behind)}:
                return axis, len(part) - len(before) - len(behind)
        return None

    def _first(self, way: list[Node]) -> str | None:
        """The elements that are put into an order, at the beginning of the way to a choice."""
        if is_one_of(way[0], "Hardmax"):
            ordered = [node for node in way if is_one_of(node, "Hardmax")][-1]
            way = [node for node in self._before(ordered.input[0]) if not _moves(node)]
            scaled = way and is_one_of(way[0], "Mul") and self._is_number(way[0].input[1])
            return way[0].input[0] if scaled else ordered.input[0]
        for k, node in enumerate(way[:-1]):
            if is_one_of(node, "LessOrEqual", "GreaterOrEqual"):
                after = next((each for each in way[k + 1 :] if not _moves(each)), None)
                copied = after is not None and is_one_of(after, "Gemm", "MatMul")
                return after.input[0] if after is not None and copied else None
        return None

    def _is_number(self, name: str) -> bool:
        tensor = self.draft.tensors.get(name)
        return tensor is not None and tensor.size == 1

    def _end(self, name: str) -> tuple[str, bool]:
        """The tensor that a choice becomes in its last shape, and whether it is transposed."""
        turned = False
        while name not in self._wanted and len(self._readers.get(name, ())) == 1:
            (reader,) = self._readers[name]
            if not _moves(reader):
                break
            turned |= is_one_of(reader, "Transpose")
            name = reader.output[0]
        return name, turned

    def _shapes_of(self, name: str) -> Iterator[str]:
        """A tensor, and those that it is another shape of."""
        yield name
        for node in self._before(name):
            if not _moves(node):
                return
            yield node.input[0]

    def _sizes(self, source: str, end: str, *, turned: bool) -> tuple[int, int] | None:
        """The axis along which one tensor has elements of another, and how many."""
        whole, part = (self.draft.facts(name).shape for name in (source, end))
        if whole is None or part is None or len(whole) != len(part):
            return None
        axes = [axis for axis in range(1, len(whole)) if whole[axis] != part[axis]]
        axes = axes or [1 if turned else len(whole) - 1]
        count = part[axes[0]]
        return (axes[0], count) if len(axes) == 1 and isinstance(count, int) else None


def _is_triangle(weights: np.ndarray) -> bool:
    return bool(np.array_equal(weights, np.tri(*weights.shape)) and weights.shape[0] > 1)


def _moves(node: Node) -> bool:
    return is_one_of(node, *_SHAPES)
