"""Elementwise nodes between a Flatten and a Reshape back to the axes that it took need neither.

A Reshape to the axes that a tensor has is not needed either.
Export computes with one axis of features, and an elementwise operator with any. Flat tensors that
such nodes connect get the axes of the tensors that most of them come from, or are turned to, where
that leaves out a node, and all others that make or read them only give a tensor another shape.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from neat_onnx.model import Model, Node, Tensor
from neat_onnx.passes.draft import Draft, attributes_of, is_one_of, make_node
from neat_onnx.passes.elementwise import is_elementwise

_FLAT = 2  # axes: samples and features
Axes = tuple[int, ...]
"""The sizes of a tensor beside its samples."""


def in_axes(model: Model) -> Model:
    """The model with Identities for such nodes, itself if there are none.

    Args:
        model: nodes in topological order, without graphs inside of them.
    """
    if not any(is_one_of(node, "Flatten", "Reshape") for node in model.graph.node):
        return model
    draft = Draft(model)
    changed: dict[int, Node | None] = {
        at: make_node("Identity", node.input[:1], node.output, opset=model.opset)
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
        fixed: something else makes or reads one.
    """

    size: int
    nodes: list[int] = field(default_factory=list)
    made: dict[int, Axes] = field(default_factory=dict)
    turned: dict[int, Axes] = field(default_factory=dict)
    fixed: bool = False

    def take(self, other: "_Group") -> None:
        """Take over the nodes of another group."""
        self.nodes += other.nodes
        self.made |= other.made
        self.turned |= other.turned
        self.fixed |= other.fixed or other.size != self.size

    @property
    def axes(self) -> Axes | None:
        """The axes that most nodes of another shape have, if any can be left out."""
        if self.fixed:
            return None
        most = Counter((*self.made.values(), *self.turned.values())).most_common(1)
        if not most or len(most[0][0]) < _FLAT:
            return None
        axes = most[0][0]
        others = any(each != axes for each in self.made.values())
        return None if others and axes not in self.turned.values() else axes


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
            if (group := self._of(name)) is not None:
                self._read(group, at, node)
        axes = self._flattened(node)
        if axes is not None and (group := self._of(made)) is not None:
            group.made[at] = axes
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
                one.fixed |= constant is None or constant.size not in (1, one.size)

    def _read(self, group: _Group, at: int, node: Node) -> None:
        """Note a node that reads a flat tensor, and is not elementwise."""
        sizes = _sizes(self._draft, node)
        if sizes is not None and sizes[:1] == (0,) and 0 not in sizes[1:]:
            if -1 not in sizes:
                group.turned[at] = sizes[1:]
        elif not _is_flatten(node):
            group.fixed = True

    def _flattened(self, node: Node) -> Axes | None:
        """The axes of the tensor of which a node makes a flat one."""
        reshapes = _sizes(self._draft, node) in ((0, -1), (0, self._features(node.output[0])))
        if not reshapes and not _is_flatten(node):
            return None
        return self._draft.axes(node.input[0])

    def _features(self, name: str) -> int | None:
        """The number of features of a computed tensor that is flat."""
        shape = self._draft.facts(name).shape
        if name in self._draft.tensors or shape is None or len(shape) != _FLAT:
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
        for group in map(self._of, names):
            if group is not None:
                group.fixed = True


def _sizes(draft: Draft, node: Node) -> Axes | None:
    """The shape that a Reshape is to."""
    if not is_one_of(node, "Reshape") or attributes_of(node).get("allowzero"):
        return None
    sizes = draft.tensors.get(node.input[1])
    return None if sizes is None else tuple(sizes.values.tolist())


def _is_copy(draft: Draft, node: Node) -> bool:
    """Whether a node is a Reshape to the axes that its input has."""
    sizes = _sizes(draft, node)
    return sizes is not None and sizes[:1] == (0,) and sizes[1:] == draft.axes(node.input[0])


def _is_flatten(node: Node) -> bool:
    return is_one_of(node, "Flatten") and bool(attributes_of(node).get("axis", 1) == 1)


def _groups(draft: Draft) -> Iterator[_Group]:
    """Yield the groups that can have other axes, whose constants nothing else reads."""
    for group in _Groups(draft):
        read = Counter(name for at in group.nodes for name in draft.model.graph.node[at].input)
        arrays = {name for name in read if name in draft.tensors and draft.tensors[name].size > 1}
        alone = all(read[name] == len(draft.readers[name]) for name in arrays)
        if alone and group.axes is not None:
            yield group


def _changes(draft: Draft, group: _Group) -> dict[int, Node | None]:
    """The new nodes of a group, by their positions; its constants get the axes."""
    nodes, opset = draft.model.graph.node, draft.model.opset
    axes = group.axes or ()
    shapes = [nodes[at].input[1] for at, each in group.turned.items() if each == axes]
    changed: dict[int, Node | None] = {}
    for at, each in (*group.made.items(), *group.turned.items()):
        source = nodes[at].input[:1]
        if each == axes:
            changed[at] = make_node("Identity", source, nodes[at].output, opset=opset)
        elif at in group.made:
            changed[at] = make_node("Reshape", [*source, shapes[0]], nodes[at].output, opset=opset)
    for name in {name for at in group.nodes for name in nodes[at].input}:
        constant = draft.tensors.get(name)
        if constant is not None and constant.size > 1:
            values = constant.values.reshape(axes)
            draft.tensors[name] = Tensor.of(name, values, constant.data_type)
    return changed
