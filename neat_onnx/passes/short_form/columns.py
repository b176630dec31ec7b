"""Nodes whose columns each come from known columns of other tensors.

They are elementwise nodes, Gather, Tile and Concat of tensors [N, width], and reductions of pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import Draft, attributes_of, is_one_of, make_node
from neat_onnx.passes.elementwise import is_elementwise

_FLAT = 2  # axes: samples and features
_OF_PAIRS = {"ReduceSum": "Add", "ReduceMax": "Max", "ReduceMin": "Min", "ReduceProd": "Mul"}

Columns = np.ndarray[tuple[int], np.dtype[np.int64]]
"""Which columns of a tensor [N, width], in their order."""
Part = tuple[str, Columns | None]
"""The name of a tensor, and which columns of it; None for a tensor of any shape as it is."""


def width_of(draft: Draft, name: str) -> int | None:
    """The number of columns of a computed tensor [N, width]; None of another."""
    shape = draft.facts(name).shape
    if name in draft.tensors or shape is None or len(shape) != _FLAT:
        return None
    return shape[1] if isinstance(shape[1], int) else None


def places_of(draft: Draft, node: Node) -> Columns | None:
    """The column of its input that each column of a Gather, a Slice or a Tile is."""
    of_input = width_of(draft, node.input[0])
    numbers = [draft.tensors[name].values for name in node.input[1:] if name in draft.tensors]
    if of_input is None or len(numbers) != len(node.input) - 1:
        return None
    places = np.arange(of_input)
    if is_one_of(node, "Tile") and numbers[0][0] == 1:
        return np.tile(places, numbers[0][1])
    if is_one_of(node, "Gather") and attributes_of(node).get("axis") == 1:
        return places[numbers[0].astype(np.int64)] if numbers[0].ndim == 1 else None
    if is_one_of(node, "Slice") and len(numbers) > 2 and numbers[2].tolist() == [1]:
        start, end, _, step, *_ = (*(int(each[0]) for each in numbers), 1)
        return places[start:end:step]
    return None


@dataclass(frozen=True)
class Picked:
    """A Gather or a Tile: columns of one tensor.

    Attributes:
        source: the tensor.
        places: the column of it that each column is.
    """

    source: str
    places: Columns

    def reads(self, columns: Columns) -> list[Part]:
        """The parts from which columns come."""
        return [(self.source, self.places[columns])]

    def node(self, draft: Draft, names: Sequence[str], output: str) -> None:
        """No node: the part is all of them."""


@dataclass(frozen=True)
class Joined:
    """A Concat: the columns of several tensors, one after the other.

    Attributes:
        sources: the tensors.
        starts: the first column of each, and the number of all columns.
    """

    sources: Sequence[str]
    starts: Columns

    def reads(self, columns: Columns) -> list[Part]:
        """The parts from which columns come, a run of them each."""
        which = np.searchsorted(self.starts, columns, side="right") - 1
        runs = np.split(np.arange(len(columns)), 1 + np.flatnonzero(np.diff(which)))
        return [
            (self.sources[which[run[0]]], columns[run] - self.starts[which[run[0]]]) for run in runs
        ]

    def node(self, draft: Draft, names: Sequence[str], output: str) -> Node | None:
        """A node that makes them of these parts; None if one part is all of them."""
        if len(names) == 1:
            return None
        return make_node("Concat", names, [output], {"axis": 1}, opset=draft.model.opset)


@dataclass(frozen=True)
class Elementwise:
    """An elementwise node.

    Attributes:
        whole: the node.
        widths: the columns of each input; None of one number for all.
    """

    whole: Node
    widths: Sequence[int | None]

    def reads(self, columns: Columns) -> list[Part]:
        """The parts from which columns come."""
        alone = np.zeros(1, np.int64)
        return [
            (name, None if width is None else alone if width == 1 else columns)
            for name, width in zip(self.whole.input, self.widths, strict=True)
        ]

    def node(self, draft: Draft, names: Sequence[str], output: str) -> Node:
        """A node that makes them of these parts."""
        return self.whole.model_copy(update={"input": [*names], "output": [output]})


@dataclass(frozen=True)
class Paired:
    """A reduction of two columns each.

    Attributes:
        operator: the elementwise operator that it is.
        source: the tensor whose columns are reduced.
        pairs: which ones, shape (2, width).
    """

    operator: str
    source: str
    pairs: np.ndarray[tuple[int, int], np.dtype[np.int64]]

    def reads(self, columns: Columns) -> list[Part]:
        """The parts from which columns come."""
        return [(self.source, places[columns]) for places in self.pairs]

    def node(self, draft: Draft, names: Sequence[str], output: str) -> Node:
        """A node that makes them of these parts."""
        return make_node(self.operator, names, [output], opset=draft.model.opset)


Followed = Picked | Joined | Elementwise | Paired


def followed(draft: Draft, made: Mapping[str, Node], node: Node) -> Followed | None:
    """How the columns of a node come from others, if they can be followed.

    Args:
        draft: the model.
        made: the node that makes each of its tensors.
        node: one of its nodes.
    """
    width = width_of(draft, node.output[0])
    if width is None or node.domain:
        return None
    if is_elementwise(node):
        return _elementwise(draft, node, width)
    if is_one_of(node, "Concat"):
        widths = [width_of(draft, name) for name in node.input]
        return None if None in widths else Joined(node.input, np.cumsum([0, *filter(None, widths)]))
    places = places_of(draft, node)
    if places is not None:
        return Picked(node.input[0], places)
    return _paired(draft, made, node)


def _elementwise(draft: Draft, node: Node, width: int) -> Elementwise | None:
    widths: list[int | None] = []
    for name in node.input:
        constant = draft.tensors.get(name)
        if not name or (constant is not None and constant.size == 1):
            widths.append(None)
        elif constant is not None:
            widths.append(constant.size if constant.dims in ((width,), (1, width)) else 0)
        else:
            widths.append(width_of(draft, name) or 0)
    return Elementwise(node, widths) if {*widths} <= {None, 1, width} else None


def _paired(draft: Draft, made: Mapping[str, Node], node: Node) -> Paired | None:
    """A reduction of pairs, of which each axis may have the length 1 before a Flatten."""
    node = made.get(node.input[0], node) if is_one_of(node, "Flatten") else node
    shape = made.get(node.input[0])
    if not is_one_of(node, *_OF_PAIRS) or shape is None or not is_one_of(shape, "Reshape"):
        return None
    axes = draft.tensors.get(node.input[1]) if len(node.input) > 1 else None
    axis = [*attributes_of(node).get("axes", ())] if axes is None else axes.values.tolist()
    sizes, width = draft.axes(shape.output[0]), width_of(draft, shape.input[0])
    if sizes is None or width is None or len(axis) != 1 or not 0 < axis[0] <= len(sizes):
        return None
    if sizes[axis[0] - 1] != 2:
        return None
    pairs = np.moveaxis(np.arange(width).reshape(sizes), axis[0] - 1, 0).reshape(2, -1)
    return Paired(_OF_PAIRS[node.op_type], shape.input[0], pairs)
