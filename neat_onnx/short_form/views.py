"""Views: tensors in the axes of one tensor, the frame.

A tensor that is another one broadcast, reduced, moved or changed element by element has an element
for each position in the frame. Where its elements stand there in their own order, once along some
axes, nodes can compute in the axes of the frame.
"""

from collections.abc import Collection, Iterator, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.passes.draft import copied, with_graph
from neat_onnx.short_form.columns import Places, Sizes, reduced_to, unrepeated, without_leading_ones
from neat_onnx.short_form.moves import ELEMENTWISE, REDUCTION, Moves

_KEY_LIMIT = 1 << 62


class _View(NamedTuple):
    """A tensor in the axes of the frame.

    Attributes:
        name: of it there.
        axes: its own, 1 where it is broadcast.
        elements: by the position in the frame, the element of the tensor as it was.
    """

    name: str
    axes: Sizes
    elements: Places


class _Operand(NamedTuple):
    """An input of an elementwise node.

    Attributes:
        origin: the tensor that its elements come from, a view or not.
        places: by the element of the result, that of the origin; None of one number.
    """

    origin: str
    places: Places | None


class AxisFrame:
    """The nodes of a graph that compute in the axes of a tensor.

    Attributes:
        axes: of the frame.
        views: the tensors that are known in it, by their names.
        nodes: the new nodes, by the position of the old one.
    """

    def __init__(self, moves: Moves, seed: str, axes: Sizes) -> None:
        self._moves, self._draft, self._made = moves, moves.draft, moves.draft.producers
        self._constants: list[Tensor] = []
        self.axes = axes
        self.views: dict[str, _View] = {}
        self.nodes: dict[int, list[Node]] = {}
        self._shaped: dict[tuple[str, Sizes], str] = {}
        self._first: list[Node] = []
        self._seed = seed

    def model(self) -> Model | None:
        """The model with the nodes in the frame; None if there are none, or not all results."""
        graph = self._draft.model.graph
        made = self._made.get(self._seed)
        start = self._first
        if made is None:
            self._begin()
        for at, (node, kind) in enumerate(zip(graph.node, self._moves.kinds, strict=True)):
            self._first = self.nodes.setdefault(at, [])
            if node is made:
                self._begin()
            elif kind == ELEMENTWISE:
                self._compute(node)
            elif kind == REDUCTION:
                self._reduce(node)
        return self._joined(start) if len(self.views) > 1 else None

    def _begin(self) -> None:
        """Know the seed, once along each axis along which it repeats another tensor."""
        origin, places = self._origin(self._seed)
        every = self._moves.every(prod(self.axes))
        own = self._viewed(self._seed, every) or (self._seed, self.axes)
        self.views[self._seed] = _View(*(self._viewed(origin, places) or own), every)

    # --- nodes -----------------------------------------------------------------------------------

    def _compute(self, node: Node) -> None:
        """Have an elementwise node compute in the frame, if it can."""
        axes = self._draft.axes(node.output[0])
        if axes is None or node.output[1:] or not any(map(self._is_known, node.input)):
            return
        operands = self._operands(node, axes)
        elements = None if operands is None else self._elements(operands, prod(axes))
        if operands is None or elements is None:
            return
        views = [self._operand(each, elements) for each in operands]
        known = [each for each in views if each is not None]
        together = np.broadcast_shapes(*(sizes for _, sizes in known))
        if len(known) == len(views) and prod(together) == prod(axes):
            result = self._draft.name(node.output[0])
            reads = [name for name, _ in known]
            self._first.append(copied(node, name="", input=reads, output=[result]))
            self.views[node.output[0]] = _View(result, together, elements)

    def _operands(self, node: Node, axes: Sizes) -> list[_Operand] | None:
        """The inputs of a node by the elements of its result; None if these are not known."""
        found = []
        for name in node.input:
            constant = self._draft.tensors.get(name)
            if not name or (constant is not None and constant.size == 1):
                found.append(_Operand(name, None))
                continue
            places = self._moves.broadcast(name, axes)
            if places is None:
                return None
            origin, inside = (name, None) if constant is not None else self._origin(name)
            found.append(_Operand(origin, places if inside is None else inside[places]))
        return found

    def _origin(self, name: str) -> tuple[str, Places]:
        """The view, or the first tensor, that moves make a tensor of, and their elements."""
        origin, places = name, self._moves.every(prod(self._draft.axes(name) or ()))
        for source, moved in self._moves_before(name):
            origin, places = source, moved[places]
        return origin, places

    def _is_known(self, name: str) -> bool:
        """Whether moves make a tensor of a view, or it is one."""
        return name in self.views or any(each in self.views for each, _ in self._moves_before(name))

    def _moves_before(self, name: str) -> Iterator[tuple[str, Places]]:
        """Yield the moves that make a tensor of a view or of the first one, from the last back: the
        tensor that each reads, and the places in it.
        """
        while name not in self.views and (node := self._made.get(name)) is not None:
            moved = self._moves.moved(node)
            if moved is None:
                return
            name = node.input[0]
            yield name, moved

    def _elements(self, operands: Sequence[_Operand], size: int) -> Places | None:
        """By the position in the frame, the element of a result of so many; None without a view."""
        inside, wanted, most = np.zeros(prod(self.axes), np.int64), np.zeros(size, np.int64), 1
        for each in operands:
            view = self.views.get(each.origin)
            if view is not None and each.places is not None:
                count = 1 + int(view.elements.max())
                most *= count
                inside, wanted = inside * count + view.elements, wanted * count + each.places
        if not 1 < most < _KEY_LIMIT:
            return None
        order = np.argsort(wanted, kind="stable")
        at = np.minimum(np.searchsorted(wanted[order], inside), size - 1)
        elements: Places = order[at]
        return elements if np.array_equal(wanted[elements], inside) else None

    def _operand(self, operand: _Operand, elements: Places) -> tuple[str, Sizes] | None:
        """The name and the axes in the frame of an input of a node with these elements."""
        name, places = operand
        constant = self._draft.tensors.get(name)
        if places is None:
            if (
                constant is not None and len(constant.dims) > len(self.axes) + 1
            ):  # the batch as well
                name = self._constant(name, constant.values.reshape(()), constant.data_type)
            return name, ()
        if name in self.views:
            return self.views[name][:2]
        if constant is None:
            return self._viewed(name, places[elements])
        values = unrepeated(constant.values.ravel()[places[elements]].reshape(self.axes))
        fewest = without_leading_ones(values)
        return self._constant(name, fewest, constant.data_type), values.shape

    def _viewed(self, name: str, places: Places) -> tuple[str, Sizes] | None:
        """A tensor that is none of the frame, in its axes, if it is broadcast to these places."""
        table = unrepeated(places.reshape(self.axes))
        size = prod(self._draft.axes(name) or ())
        if not np.array_equal(table.ravel(), np.arange(size)):
            return None
        if self._draft.axes(name) == table.shape:
            return name, table.shape
        if (name, table.shape) not in self._shaped:
            shaped = self._shaped[name, table.shape] = self._draft.name(name)
            self._first.append(self._reshape(name, table.shape, shaped))
        return self._shaped[name, table.shape], table.shape

    def _constant(self, wish: str, values: np.ndarray, kind: DataType) -> str:
        self._constants.append(Tensor.of(self._draft.name(wish), values, kind))
        return self._constants[-1].name

    def _reshape(self, name: str, axes: Sizes, result: str) -> Node:
        if len(axes) == 1:
            return self._draft.node("Flatten", [name], [result], axis=1)
        shape = self._constant("shape", np.array([0, *axes]), DataType.INT64)
        return self._draft.node("Reshape", [name, shape], [result])

    def _reduce(self, node: Node) -> None:
        """Have a reduction reduce along axes of the frame, if it can."""
        groups = reduced_to(self._draft, node)
        origin, places = self._origin(node.input[0])
        view = self.views.get(origin)
        back = None if view is None else _inverse(places, prod(view.axes))
        if view is None or back is None or groups is None:
            return
        elements = groups[back][view.elements]
        table = elements.reshape(self.axes)
        along = [
            axis
            for axis, size in enumerate(view.axes)
            if size > 1 and np.all(table == table.take([0], axis))
        ]
        sizes = tuple(1 if axis in along else size for axis, size in enumerate(view.axes))
        if along and prod(sizes) == 1 + int(groups.max()):
            result = self._draft.name(node.output[0])
            self._first.append(self._reduction(node, view.name, along, result))
            self.views[node.output[0]] = _View(result, sizes, elements)

    def _reduction(self, node: Node, name: str, along: list[int], result: str) -> Node:
        axes, reads = [axis + 1 for axis in along], [name]
        given = node.given_attributes | {"keepdims": 1}
        if len(node.input) == 1:
            given["axes"] = axes
        else:
            reads.append(self._constant("axes", np.array(axes), DataType.INT64))
        return self._draft.node(node.op_type, reads, [result], **given)

    # --- the way back ----------------------------------------------------------------------------

    def _joined(self, start: list[Node]) -> Model | None:
        """The model of the new nodes, and of the old ones that they do not replace."""
        graph = self._draft.model.graph
        needed = {entry.name for entry in graph.outputs}
        parts: list[list[Node]] = []
        for at, node in reversed([*enumerate(graph.node)]):
            name = node.output[0]
            given = None if needed.isdisjoint(node.output) else self._given(name)
            part = [] if given is None else [given]
            needed.update(*(each.input for each in part))
            if given is None and name in needed and self._is_read(name, needed):
                return None
            for each in reversed(self.nodes[at]):
                if not needed.isdisjoint(each.output):
                    part.insert(0, each)
                    needed.update(each.input)
            if given is None and not needed.isdisjoint(node.output):
                part.insert(0, node)  # new nodes here may read the seed
                needed.update(node.input)
            parts.append(part)
        nodes = [*start, *(node for part in reversed(parts) for node in part)]
        return with_graph(
            self._draft.model, node=nodes, initializer=[*graph.initializer, *self._constants]
        )

    def _is_read(self, name: str, needed: Collection[str]) -> bool:
        """Whether nodes in the frame read a view of a tensor."""
        return name in self.views and self.views[name].name in needed and name != self._seed

    def _given(self, name: str) -> Node | None:
        """The node that makes a tensor in its own shape of a view, of it or of its origin."""
        origin, places = self._origin(name)
        view, axes = self.views.get(origin), self._draft.axes(name)
        back = None if view is None else _inverse(places, prod(view.axes))
        if view is None or back is None or axes is None or name == self._seed:
            return None
        elements = back[view.elements].reshape(self.axes)
        for axis, size in enumerate(view.axes):
            elements = elements.take([0], axis) if size == 1 else elements
        if not np.array_equal(elements.ravel(), np.arange(len(places))):
            return None
        if view.axes == axes:
            return self._draft.node("Identity", [view.name], [name])
        return self._reshape(view.name, axes, name)


def _inverse(places: Places, size: int) -> Places | None:
    """Where each of so many elements stands among others; None if not all are there once."""
    order: Places = np.argsort(places)
    return order if np.array_equal(places[order], np.arange(size)) else None
