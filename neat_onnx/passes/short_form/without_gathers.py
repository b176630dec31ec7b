"""Elementwise nodes read tensors as they are, not elements that were gathered from several.

Export computes neurons of one form together: the tensors that they read are joined, the elements
for each neuron gathered, and the results cut apart again for whoever reads them. Here each reader
says which elements of a result it needs, and so on through elementwise nodes, Gather, Concat and
others that move elements, back to tensors that something else makes. Two operators of a model are
two nodes again, and a sum of two elements each is an Add.
"""

from collections.abc import Iterable
from math import prod

import numpy as np

from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.passes.draft import Draft, attributes_of, is_one_of, make_node, with_inputs
from neat_onnx.passes.short_form.columns import (
    Elementwise,
    Followed,
    Joined,
    Paired,
    Part,
    Picked,
    Places,
    axes_of,
    followed,
)

_MOST_TIMES, _MOST_MORE = 2, 16  # nodes, beside those there were
_OF_PARTS = ("Gather", "Concat", "Tile", "Mul")  # a Mul may broadcast a factor of one element
_WHOLE = b""
_Key = tuple[str, bytes]


def without_gathers(model: Model) -> Model:
    """The model whose elementwise nodes are flat and read elements of one tensor each.

    It is the model itself if nothing in it reads parts, or if the nodes would be many more.

    Args:
        model: nodes in topological order, without graphs inside of them.
    """
    if not any(is_one_of(node, *_OF_PARTS) for node in model.graph.node):
        return model
    needed = _Needed(Draft(_without_casts(model)))
    return needed.model() if needed.are_few else model


def _without_casts(model: Model) -> Model:
    """The model with the constants that integers are cast to."""
    draft = Draft(model)
    for node in model.graph.node:
        small = draft.tensors.get(node.input[0]) if is_one_of(node, "Cast") else None
        if small is None:
            draft.nodes.append(node)
        else:
            kind, name = DataType(attributes_of(node)["to"]), node.output[0]
            draft.tensors[name] = Tensor.of(name, small.values.astype(kind.dtype), kind)
    return draft.finished()


class _Needed:
    """The parts of tensors that are needed, from the outputs of a graph back to its inputs."""

    def __init__(self, draft: Draft) -> None:
        self._draft, graph = draft, draft.model.graph
        self._followed: dict[str, Followed | None] = {}
        self._reordered: set[str] = set()  # all elements of a tensor that something else makes
        for node in graph.node:
            way = self._followed[node.output[0]] = followed(draft, node)
            if isinstance(way, Picked) and self._reorders(node, way):
                self._reordered.add(node.output[0])
        self._outputs = {entry.name for entry in graph.outputs}
        self._parts: dict[str, dict[_Key, Part]] = {}
        self._names: dict[_Key, str] = {}
        self._negated: dict[str, str] = {}
        self._need((name, None) for name in self._outputs)
        for node in reversed(graph.node):
            for part in self._parts_of(node.output):
                self._need(self._read_by(node, part))

    @property
    def are_few(self) -> bool:
        """Whether a node for each part is not much more than there are now."""
        count = sum(map(len, self._parts.values()))
        return count <= _MOST_TIMES * len(self._draft.model.graph.node) + _MOST_MORE

    def model(self) -> Model:
        """The model with a node for each part that is needed."""
        graph, nodes = self._draft.model.graph, self._draft.nodes
        for name in graph.tensors:
            self._cut(name)
        for entry in graph.inputs:
            self._give(entry.name)
        for node in graph.node:
            if self._stays(node):
                reads = [
                    self._name_of(part) for part in self._read_by(node, (node.output[0], None))
                ]
                nodes.append(with_inputs(node, reads))
            for name in node.output:
                self._give(name)
        return self._draft.finished()

    def _stays(self, node: Node) -> bool:
        """Whether a node is needed as it is."""
        parts = self._parts_of(node.output)
        return any(self._way(part) is None and self._before(*part) is None for part in parts)

    def _reorders(self, node: Node, way: Picked) -> bool:
        """Whether a node has all elements of a tensor that is not followed, without a list."""
        source = way.source
        if is_one_of(node, "Gather") or not (self._is_source(source) or source in self._reordered):
            return False
        return np.array_equal(np.sort(way.places), np.arange(prod(self._axes(source))))

    def _is_source(self, name: str) -> bool:
        return self._followed.get(name) is None

    def _way(self, part: Part) -> Followed | None:
        """How a part comes from other tensors; None for one that its node has as it is."""
        name, places = part
        flat = self._flat(name)[1]
        whole = places is None or (flat is not None and np.array_equal(places, flat))
        return None if name in self._reordered and whole else self._followed.get(name)

    def _need(self, parts: Iterable[Part]) -> None:
        """Note parts, before each of them the one that it is made of, if that is the tensor."""
        for part in parts:
            if part[0]:
                name, places = self._plain(part)
                before = self._before(name, places)
                self._need([] if before is None else [before])
                self._parts.setdefault(name, {})[_key((name, places))] = name, places

    def _plain(self, part: Part) -> Part:
        """A part, without places if these are all of a flat tensor, in order."""
        name, places = part
        axes = self._axes(name)
        whole = places is None or (len(axes) == 1 and np.array_equal(places, np.arange(axes[0])))
        return name, None if whole else places

    def _axes(self, name: str) -> tuple[int, ...]:
        constant = self._draft.tensors.get(name)
        return axes_of(self._draft, name) or () if constant is None else constant.dims

    def _flat(self, name: str) -> Part:
        """All elements of a tensor, flat."""
        return self._plain((name, np.arange(prod(self._axes(name)))))

    def _before(self, name: str, places: Places | None) -> Part | None:
        """Another part of a tensor that one is made of.

        A neuron stays one neuron: elements that are needed twice are computed once.
        """
        way, flat = self._way((name, places)), self._flat(name)
        if places is None:
            return flat if way is not None and flat[1] is not None else None
        if name in self._draft.tensors:
            return None
        if flat[1] is not None and np.array_equal(places, flat[1]):
            return (name, None) if way is None else None
        if way is None or (isinstance(way, Joined) and len(way.reads(places)) > len(way.sources)):
            return flat
        once = np.unique(places)
        repeats = isinstance(way, Elementwise | Paired) and len(once) < len(places)
        return self._plain((name, once)) if repeats else None

    def _parts_of(self, names: Iterable[str]) -> list[Part]:
        return [part for name in names for part in self._parts.get(name, {}).values()]

    def _read_by(self, node: Node, part: Part) -> list[Part]:
        """The parts of other tensors that a node reads to make one of its result."""
        way, (name, places) = self._way(part), part
        if way is None:
            return [(name, None) for name in node.input]
        if self._before(*part) is not None:
            return []
        return way.reads(np.arange(prod(self._axes(name))) if places is None else places)

    def _cut(self, name: str) -> None:
        """Add the parts of a constant; one of equal numbers is this number."""
        tensor = self._draft.tensors[name]
        for part in self._parts_of([name]):
            made = self._names[_key(part)] = self._new_name(part)
            if part[1] is not None:
                values = tensor.values.ravel()[part[1]]
                alike = values.tobytes() == values[:1].tobytes() * len(values)
                cut = Tensor.of(made, values[0] if alike else values, tensor.data_type)
                self._draft.tensors[made] = cut

    def _give(self, name: str) -> None:
        """Add the parts of a computed tensor."""
        for part in self._parts_of([name]):
            before, way = self._before(*part), self._way(part)
            made = self._new_name(part)
            if before is not None:
                self._draft.nodes.append(self._made_of(before, part, made))
            elif way is not None:
                made = self._follow(way, part, made)
            self._names[_key(part)] = made

    def _made_of(self, before: Part, part: Part, made: str) -> Node:
        """The node that makes a part of another one of the same tensor."""
        (name, places), (_, held), source = part, before, self._name_of(before)
        if places is None:
            shape = self._draft.constant("shape", [0, *self._axes(name)])
            return self._node("Reshape", [source, shape], made)
        if held is None and len(self._axes(name)) > 1:
            return self._node("Flatten", [source], made, axis=1)
        found = places if held is None else np.searchsorted(held, places)
        return self._node("Gather", [source, self._draft.constant("places", found)], made, axis=1)

    def _follow(self, way: Followed, part: Part, made: str) -> str:
        """Add the node for a part, if it takes one; return the name that the part has."""
        name, places = part
        places = np.arange(prod(self._axes(name))) if places is None else places
        reads = [self._name_of(each) for each in way.reads(places)]
        node = way.node(self._draft, reads, made)
        same = reads[0] if node is None else self._factor_of(node, 1.0)
        if same is not None and made not in self._outputs:
            return same
        self._draft.nodes.append(self._simple(node or self._node("Identity", reads, made)))
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
                    return self._node("Sub", [other, self._negated[term]], node.output[0])
        return node

    def _node(self, operator: str, reads: list[str], output: str, **attributes: int) -> Node:
        return make_node(operator, reads, [output], attributes, opset=self._draft.model.opset)

    def _name_of(self, part: Part) -> str:
        return self._names[_key(self._plain(part))] if part[0] else ""

    def _new_name(self, part: Part) -> str:
        return part[0] if part[1] is None else self._draft.name(part[0])


def _key(part: Part) -> _Key:
    return part[0], _WHOLE if part[1] is None else part[1].tobytes()
