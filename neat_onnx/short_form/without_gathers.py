"""Elementwise nodes read tensors as they are, not elements that were gathered from several.

Export computes neurons of one form together: the tensors that they read are joined, the elements
for each neuron gathered, and the results cut apart again for whoever reads them. Here each reader
says which elements of a result it needs, and so on through elementwise nodes, Gather, Concat and
others that move elements, back to tensors that something else makes. Two operators of a model are
two nodes again, and a sum of two elements each is an Add.
"""

import numpy as np

from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.passes.draft import Draft, is_one_of, with_inputs
from neat_onnx.short_form.columns import Followed, Part, Places
from neat_onnx.short_form.needed_parts import Key, NeededParts

_MAX_PARTS_PER_NODE, _MAX_PARTS_MORE = 2, 16  # parts, beside the nodes there were
_MIN_COLUMNS_CUT = 32
_OF_PARTS = ("Gather", "Concat", "Tile", "Mul")  # a Mul may broadcast a factor of one element


def without_gathers(model: Model) -> Model:
    """The model whose elementwise nodes are flat and read elements of one tensor each.

    It is the model itself if nothing in it reads parts, if the nodes would be many more, or if an
    input is read for the sake of being read, as the checker wants it.

    Args:
        model: nodes in topological order, without graphs inside of them.
    """
    if not any(is_one_of(node, *_OF_PARTS) for node in model.graph.node):
        return model
    draft = Draft(_without_casts(model))
    needed = NeededParts(draft)
    few = len(needed) <= _MAX_PARTS_PER_NODE * len(model.graph.node) + _MAX_PARTS_MORE
    reads_all = all([*needed.of(entry.name)] for entry in model.graph.inputs)
    return _Writer(draft, needed).model() if few and reads_all else model


def _without_casts(model: Model) -> Model:
    """The model with the constants that integers are cast to."""
    draft = Draft(model)
    for node in model.graph.node:
        small = draft.tensors.get(node.input[0]) if is_one_of(node, "Cast") else None
        if small is None:
            draft.nodes.append(node)
        else:
            kind, name = DataType(node.given_attributes["to"]), node.output[0]
            draft.tensors[name] = Tensor.of(name, small.values.astype(kind.dtype), kind)
    return draft.finished()


class _Writer:
    """A graph with a node for each part that is needed."""

    def __init__(self, draft: Draft, needed: NeededParts) -> None:
        self._draft, self._needed = draft, needed
        self._outputs = {entry.name for entry in draft.model.graph.outputs}
        self._names: dict[Key, str] = {}
        self._negated: dict[str, str] = {}  # the tensor that a product by -1 is of

    def model(self) -> Model:
        """The model."""
        graph = self._draft.model.graph
        for name in graph.tensors:
            self._cut(name)
        for entry in graph.inputs:
            self._give(entry.name)
        for node in graph.node:
            if self._stays(node):
                reads = [self._name_of((name, None)) for name in node.input]
                self._draft.nodes.append(with_inputs(node, reads))
            for name in node.output:
                self._give(name)
        return self._draft.finished()

    def _stays(self, node: Node) -> bool:
        """Whether a node is needed as it is."""
        ways, before = self._needed.way, self._needed.before
        parts = self._needed.of(*node.output)
        return any(ways(part) is None and before(part) is None for part in parts)

    def _cut(self, name: str) -> None:
        """Add the parts of a constant; one of equal numbers is this number."""
        tensor = self._draft.tensors[name]
        for part in self._needed.of(name):
            made = self._names[self._needed.key(part)] = self._new_name(part)
            if part[1] is not None:
                values = tensor.values.ravel()[part[1]]
                alike = values.tobytes() == values[:1].tobytes() * len(values)
                cut = Tensor.of(made, values[0] if alike else values, tensor.data_type)
                self._draft.tensors[made] = cut

    def _give(self, name: str) -> None:
        """Add the parts of a computed tensor."""
        for part in self._needed.of(name):
            before, way = self._needed.before(part), self._needed.way(part)
            made = self._new_name(part)
            if before is not None:
                self._draft.nodes.append(self._made_of(before, part, made))
            elif way is not None:
                made = self._follow(way, part, made)
            self._names[self._needed.key(part)] = made

    def _made_of(self, before: Part, part: Part, made: str) -> Node:
        """The node that makes a part of another one of the same tensor."""
        (name, places), (_, held), source = part, before, self._name_of(before)
        axes = self._needed.axes(name)
        if places is None:
            shape = self._draft.constant("shape", [0, *axes])
            return self._draft.node("Reshape", [source, shape], [made])
        if held is None and len(axes) > 1:
            return self._draft.node("Flatten", [source], [made], axis=1)
        return self._picked(source, places if held is None else np.searchsorted(held, places), made)

    def _picked(self, source: str, places: Places, made: str) -> Node:
        """The node that picks columns of a flat tensor; many at even steps need no list."""
        steps = np.diff(places)
        if len(places) < _MIN_COLUMNS_CUT or steps[0] <= 0 or np.any(steps != steps[0]):
            found = self._draft.constant("places", places)
            return self._draft.node("Gather", [source, found], [made], axis=1)
        bounds = (places[0], places[-1] + 1, 1, steps[0])
        numbers = [self._draft.constant("cut", [int(each)]) for each in bounds]
        return self._draft.node("Slice", [source, *numbers], [made])

    def _follow(self, way: Followed, part: Part, made: str) -> str:
        """Add the node for a part, if it takes one; return the name that the part has."""
        name, places = part
        read = way.reads(self._needed.whole(name) if places is None else places)
        reads = [self._name_of(each) for each in read]
        node = way.node(self._draft, reads, made)
        same = reads[0] if node is None else self._factor_of(node, 1.0)
        if same is not None and made not in self._outputs:
            return same
        self._draft.nodes.append(self._simple(node or self._draft.node("Identity", reads, [made])))
        return made

    def _factor_of(self, node: Node, number: float) -> str | None:
        """The other factor of a product by a number."""
        if is_one_of(node, "Mul"):
            for factor, other in zip(node.input, node.input[::-1], strict=True):
                tensor = self._draft.tensors.get(factor)
                if tensor is not None and tensor.size == 1 and tensor.values.item() == number:
                    return other
        return None

    def _simple(self, node: Node) -> Node:
        """The node, a difference in place of a sum with a product by -1."""
        negated = self._factor_of(node, -1.0)
        if negated is not None:
            self._negated[node.output[0]] = negated
        if is_one_of(node, "Add"):
            for term, other in zip(node.input, node.input[::-1], strict=True):
                if term in self._negated:
                    return self._draft.node("Sub", [other, self._negated[term]], node.output)
        return node

    def _name_of(self, part: Part) -> str:
        return self._names[self._needed.key(part)] if part[0] else ""

    def _new_name(self, part: Part) -> str:
        return part[0] if part[1] is None else self._draft.name(part[0])
