"""Elementwise nodes between a Flatten and a Reshape back to the axes that it took need neither.

A Reshape to the axes that a tensor has is not needed either, nor copies of columns that are
broadcast. Export computes with one axis of features, and an elementwise operator with any. Flat
tensors that such nodes connect get the axes of the tensors that most of them come from, or are
turned to, where that leaves out a node, and all others that make or read them only give a tensor
another shape, or repeat its columns as broadcasting does.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from neat_onnx.model import Model, Node, Tensor
from neat_onnx.passes.draft import Draft, is_one_of
from neat_onnx.passes.elementwise import is_elementwise
from neat_onnx.short_form.columns import (
    FLAT,
    Places,
    Sizes,
    places_of,
    shape_of_samples,
    unrepeated,
    unrepeated_places,
)

SHAPES = ("Flatten", "Reshape", "Gather", "Tile")
"""Operators of which one is in a graph that changes."""


def in_axes(model: Model) -> Model:
    """The model with Identities for such nodes, itself if there are none.

    Args:
        model: nodes in topological order, without graphs inside of them.
    """
    if not any(is_one_of(node, *SHAPES) for node in model.graph.node):
        return model
    draft = Draft(model)
    changed: dict[int, Node | None] = {
        at: draft.node("Identity", node.input[:1], node.output)
        for at, node in enumerate(model.graph.node)
        if _is_copy(draft, node)
    }
    for group in _groups(draft):
        changed |= _changes(draft, group)
    return draft.replaced(changed)


@dataclass
class _Group:
    """Flat tensors that elementwise nodes connect.

    Attributes:
        size: how many features they have.
        nodes: the positions of the elementwise nodes.
        made: positions of nodes that make one of another shape, by the axes of that.
        turned: positions of nodes that turn one into axes, by these.
        repeated: positions of nodes that repeat columns, with the column that each one is.
        others: the names of those that something else makes or reads.
        mixed: one has another number of features.
    """

    size: int
    nodes: list[int] = field(default_factory=list)
    made: dict[int, Sizes] = field(default_factory=dict)
    turned: dict[int, Sizes] = field(default_factory=dict)
    repeated: dict[int, Places] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)
    mixed: bool = False

    def take(self, other: "_Group") -> None:
        """Take over the nodes of another group."""
        self.nodes += other.nodes
        self.made |= other.made
        self.turned |= other.turned
        self.repeated |= other.repeated
        self.others |= other.others
        self.mixed |= other.mixed or other.size != self.size

    @property
    def axes(self) -> Sizes | None:
        """The axes that nodes are to compute in; None where that would leave out no node.

        They are those that most nodes of another shape have, or one where a column is repeated.
        """
        most = Counter((*self.made.values(), *self.turned.values())).most_common(1)
        axes = most[0][0] if most and not self.others else (self.size,)
        others = any(each != axes for each in self.made.values())
        if self.mixed or (len(axes) > 1 and others and axes not in self.turned.values()):
            return None
        sizes = [_before_broadcast(places, axes) for places in self.repeated.values()]
        if None in sizes or (len(axes) == 1 and not sizes):
            return None
        return axes


class _Groups:
    """The groups of a graph, by the name of a tensor."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._found: dict[str, _Group] = {}
        self._leader: dict[str, str] = {}
        for at, node in enumerate(draft.model.graph.node):
            self._note(at, node)
        graph = draft.model.graph
        self._fix(entry.name for entry in (*graph.inputs, *graph.outputs))

    def __iter__(self) -> Iterator[_Group]:
        return iter(self._found.values())

    def _note(self, at: int, node: Node) -> None:
        made = node.output[0]
        if is_elementwise(node) and (group := self._of(made)) is not None:
            group.nodes.append(at)
            self._connect(node)
            return
        for name in node.input:
            if (group := self._of(name)) is not None and not self._turns(group, at, node):
                group.others.add(name)
        axes, group = self._flattened(node), self._of(made)
        if axes is not None and group is not None:
            group.made[at] = axes
        elif group is not None and (places := self._repeated(node)) is not None:
            group.repeated[at] = places
        else:
            self._fix(node.output)

    def _connect(self, node: Node) -> None:
        """Put the tensors of an elementwise node into one group."""
        for name in filter(None, node.input):
            one, other = self._of(node.output[0]), self._of(name)
            constant = self._draft.tensors.get(name)
            if one is not None and other is not None and one is not other:
                joining = self._lead(name)
                self._leader[joining] = self._lead(node.output[0])
                del self._found[joining]
                one.take(other)
            elif one is not None and other is None:
                one.mixed |= constant is None or constant.size not in (1, one.size)

    def _turns(self, group: _Group, at: int, node: Node) -> bool:
        """Whether a node only gives a flat tensor another shape, into which axes is noted."""
        axes = shape_of_samples(node, self._draft.tensors)
        if axes is not None and -1 not in axes:
            group.turned[at] = axes
        return axes is not None

    def _flattened(self, node: Node) -> Sizes | None:
        """The axes of the tensor of which a node makes a flat one."""
        axes = shape_of_samples(node, self._draft.tensors)
        if axes not in ((-1,), (self._features(node.output[0]),)):
            return None
        return self._draft.axes(node.input[0]) or None

    def _repeated(self, node: Node) -> Places | None:
        """The column that each column of a node is, if it repeats all that its input has."""
        places = places_of(self._draft, node)
        sizes = self._draft.axes(node.input[0]) or ()
        whole = places is not None and len(np.unique(places)) == prod(sizes)
        return places if whole else None

    def _features(self, name: str) -> int | None:
        """The number of features of a computed tensor that is flat."""
        shape = self._draft.facts(name).shape
        if name in self._draft.tensors or shape is None or len(shape) != FLAT:
            return None
        return shape[1] if isinstance(shape[1], int) else None

    def _of(self, name: str) -> _Group | None:
        """The group of a tensor, a new one at first, if it is flat."""
        if (size := self._features(name)) is None:
            return None
        return self._found.setdefault(self._lead(name), _Group(size))

    def _lead(self, name: str) -> str:
        while (before := self._leader.get(name, name)) != name:
            self._leader[name] = self._leader.get(before, before)
            name = before
        return name

    def _fix(self, names: Iterable[str]) -> None:
        for name in names:
            if (group := self._of(name)) is not None:
                group.others.add(name)


def _is_copy(draft: Draft, node: Node) -> bool:
    """Whether a node is a Reshape to the axes that its input has."""
    axes = shape_of_samples(node, draft.tensors)
    return axes is not None and axes == draft.axes(node.input[0])


def _groups(draft: Draft) -> Iterator[_Group]:
    """Yield the groups that can have other axes, whose constants nothing else reads."""
    for group in _Groups(draft):
        read = Counter(name for at in group.nodes for name in draft.model.graph.node[at].input)
        arrays = {name for name in read if name in draft.tensors and draft.tensors[name].size > 1}
        alone = all(read[name] == len(draft.readers[name]) for name in arrays)
        if alone and group.axes is not None and _are_whole(draft, group, group.axes):
            yield group


def _are_whole(draft: Draft, group: _Group, axes: Sizes) -> bool:
    """Whether tensors that are turned into axes have these, with all that is broadcast to them."""
    nodes = draft.model.graph.node
    sizes: dict[str, Sizes] = {}
    for at, places in group.repeated.items():
        sizes[nodes[at].output[0]] = _before_broadcast(places, axes) or axes
    for at in sorted(group.nodes):
        computed = [name for name in nodes[at].input if name not in draft.tensors]
        together = np.broadcast_shapes(*(sizes.get(name, axes) for name in computed))
        sizes[nodes[at].output[0]] = together
    read = {nodes[at].input[0] for at in group.turned} | group.others
    return all(sizes.get(name, axes) == axes for name in read)


def _changes(draft: Draft, group: _Group) -> dict[int, Node | None]:
    """The new nodes of a group, by their positions; its constants get the axes."""
    nodes = draft.model.graph.node
    axes = group.axes or ()
    shapes = [nodes[at].input[1] for at, each in group.turned.items() if each == axes]
    changed: dict[int, Node | None] = {}
    for at, each in (*group.made.items(), *group.turned.items()) if len(axes) > 1 else ():
        source = nodes[at].input[:1]
        if each == axes:
            changed[at] = draft.node("Identity", source, nodes[at].output)
        elif at in group.made:
            changed[at] = draft.node("Reshape", [*source, shapes[0]], nodes[at].output)
    flat = {
        node.output[0]: node.input[0]
        for node in nodes
        if shape_of_samples(node, draft.tensors) == (-1,)
    }
    for at, places in group.repeated.items():
        read = nodes[at].input[0]
        sizes = _before_broadcast(places, axes) or axes
        changed[at] = _in(draft, [flat.get(read, read), read], sizes, nodes[at].output)
    for name in {name for at in group.nodes for name in nodes[at].input}:
        constant = draft.tensors.get(name)
        if constant is not None and constant.size > 1:
            values = unrepeated(constant.values.reshape(axes))
            draft.tensors[name] = Tensor.of(name, values, constant.data_type)
    return changed


def _in(draft: Draft, sources: Sequence[str], sizes: Sizes, gives: Sequence[str]) -> Node:
    """The node that has a tensor in these axes, which stands in several already."""
    for source in sources:
        if draft.axes(source) == sizes:
            return draft.node("Identity", [source], gives)
    reads = [sources[-1], draft.constant("shape", [0, *sizes])]
    return draft.node("Reshape", reads, gives)


def _before_broadcast(places: Places, axes: Sizes) -> Sizes | None:
    """The axes of a tensor that has these columns where it is broadcast to others, if it is."""
    if places.size != prod(axes):
        return None
    table = unrepeated_places(places.reshape(axes))
    return table.shape if np.array_equal(table.ravel(), np.arange(table.size)) else None
