"""Replace sequences of tensors by their tensors, where it is known how many there are.

torch.split, unbind and stack are written with sequences by some exporters: SplitToSequence and
SequenceAt take a tensor apart, SequenceConstruct and ConcatFromSequence put one together.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from neat_onnx.model import Model, Node
from neat_onnx.model.draft import Draft, Step

_MAX_PARTS = 4096


class Rows(NamedTuple):
    """The tensors along an axis of another one, which do not have it."""

    tensor: str
    axis: int


def rows_of(draft: Draft, name: str) -> Rows | None:
    """The rows that a sequence is, however many there are; None of any other."""
    node = draft.maker(name, "SplitToSequence")
    if node is None or node.given_attributes.get("keepdims", 1) or not _is_unbound(draft, node):
        return None
    return Rows(node.input[0], int(node.given_attributes.get("axis", 0)))


def _is_unbound(draft: Draft, node: Node) -> bool:
    """Whether `keepdims` of a SplitToSequence counts: in ONNX, if there is no `split`.

    onnxruntime lets it count for the number 1 as well, as PyTorch writes unbind.
    """
    tensor = draft.tensors.get(node.input[1]) if len(node.input) > 1 else None
    one = tensor is not None and not tensor.dims and tensor.values.item() == 1
    return one or len(node.input) < 2


class _Sequences:
    """The sequences of a graph, each as the names of its tensors."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.parts: dict[str, list[str]] = {}
        self._splits: dict[str, list[Node]] = {}  # by the part that they give, until it is read

    def replaced(self, node: Node) -> list[Node] | None:
        """The nodes in place of one that reads a known sequence; None for all others."""
        nodes = self._read(node)
        self._follow(node)
        return nodes

    def _follow(self, node: Node) -> None:
        """Note the sequence that a node makes, if it is known."""
        make = _MAKERS.get(node.op_type)
        found = make(self, node) if make and not node.domain else None
        if found is not None and len(found) <= _MAX_PARTS:
            self.parts[node.output[0]] = found

    def _read(self, node: Node) -> list[Node] | None:
        known = _READERS.get(node.op_type) if not node.domain else None
        parts = self.parts.get(node.input[0]) if known else None
        if known and parts is not None:
            return known(self, node, parts)
        rows = rows_of(self.draft, node.input[0]) if known else None
        return _ROW_READERS[node.op_type](self.draft, node, rows) if rows else None

    def position(self, node: Node, at: int, length: int, default: int) -> int | None:
        """The position in a sequence that an input says, from 0 on; None if it is not constant."""
        if len(node.input) <= at or not node.input[at]:
            return default
        position = self.draft.integer(node.input[at])
        return position if position is None or position >= 0 else position + length

    def given(self, name: str) -> list[Node]:
        """The nodes that give a part, when it is read for the first time."""
        nodes = self._splits.get(name, [])
        for node in nodes:
            for part in node.output:
                self._splits.pop(part, None)
        return nodes

    def split(self, node: Node) -> list[str] | None:
        """The parts of SplitToSequence."""
        given, name = node.given_attributes, node.output[0]
        axis = int(given.get("axis", 0))
        sizes = self._sizes(node, axis)
        if sizes is None or not 0 < len(sizes) <= _MAX_PARTS:
            return None
        squeezed = not given.get("keepdims", 1) and _is_unbound(self.draft, node)
        parts = [self.draft.name(f"{name}_part") for _ in sizes]
        rows = [self.draft.name(f"{name}_row") for _ in sizes] if squeezed else parts
        reads = [node.input[0], self.draft.constant(f"{name}_split", sizes)]
        nodes = [self.draft.node("Split", reads, rows, axis=axis)]
        if squeezed:
            axes = self.draft.constant(f"{name}_axes", [axis])
            pairs = zip(rows, parts, strict=True)
            nodes += [self.draft.node("Squeeze", [row, axes], [part]) for row, part in pairs]
        self._splits |= dict.fromkeys(parts, nodes)
        return parts

    def _sizes(self, node: Node, axis: int) -> list[int] | None:
        shape = self.draft.facts(node.input[0]).shape
        size = shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None
        tensor = self.draft.tensors.get(node.input[1]) if len(node.input) > 1 else None
        if tensor is None and len(node.input) > 1:
            return None
        if tensor is not None and tensor.dims:
            return [int(each) for each in tensor.values]
        step = 1 if tensor is None else int(tensor.values.item())
        if not isinstance(size, int) or step < 1 or size > step * _MAX_PARTS:
            return None
        return [min(step, size - start) for start in range(0, size, step)]

    def joined(self, node: Node, parts: list[str]) -> list[Node] | None:
        """ConcatFromSequence as a Concat, of new rows if it makes an axis."""
        given, name = node.given_attributes, node.output[0]
        axis = int(given.get("axis", 0))
        nodes = [each for part in parts for each in self.given(part)]
        if not parts:
            return None
        if given.get("new_axis", 0):
            axes = self.draft.constant(f"{name}_axes", [axis])
            rows = [self.draft.name(f"{name}_row") for _ in parts]
            nodes += [
                self.draft.node("Unsqueeze", [part, axes], [row])
                for part, row in zip(parts, rows, strict=True)
            ]
            parts = rows
        return [*nodes, self.draft.node("Concat", parts, [name], name=node.name, axis=axis)]

    def at(self, node: Node, parts: list[str]) -> list[Node] | None:
        """SequenceAt as the tensor at its position."""
        position = self.position(node, 1, len(parts), 0)
        if position is None or not 0 <= position < len(parts):
            return None
        handed = self.draft.node("Identity", [parts[position]], node.output, name=node.name)
        return [*self.given(parts[position]), handed]

    def length(self, node: Node, parts: list[str]) -> list[Node]:
        """SequenceLength as a constant."""
        made = self.draft.constant(f"{node.output[0]}_length", np.array(len(parts), np.int64))
        return [self.draft.node("Identity", [made], node.output, name=node.name)]

    def inserted(self, node: Node) -> list[str] | None:
        """The parts of SequenceInsert."""
        parts = self.parts.get(node.input[0])
        position = None if parts is None else self.position(node, 2, len(parts), len(parts))
        if parts is None or position is None or not 0 <= position <= len(parts):
            return None
        return [*parts[:position], node.input[1], *parts[position:]]

    def erased(self, node: Node) -> list[str] | None:
        """The parts of SequenceErase."""
        parts = self.parts.get(node.input[0])
        position = None if parts is None else self.position(node, 1, len(parts), len(parts) - 1)
        if parts is None or position is None or not 0 <= position < len(parts):
            return None
        return [*parts[:position], *parts[position + 1 :]]


def _row_at(draft: Draft, node: Node, rows: Rows) -> list[Node]:
    """SequenceAt as a Gather along the rows."""
    reads = [rows.tensor, node.input[1]]
    return [draft.node("Gather", reads, node.output, name=node.name, axis=rows.axis)]


def _row_count(draft: Draft, node: Node, rows: Rows) -> list[Node]:
    """SequenceLength as the size of their axis."""
    (name,) = node.output
    shape, place = draft.name(f"{name}_shape"), draft.constant(f"{name}_axis", rows.axis)
    sizes = draft.node("Shape", [rows.tensor], [shape])
    return [sizes, draft.node("Gather", [shape, place], [name], name=node.name, axis=0)]


def _rows_joined(draft: Draft, node: Node, rows: Rows) -> list[Node] | None:
    """ConcatFromSequence as the whole tensor, its rows along the axis that they are joined by."""
    shape, given = draft.facts(rows.tensor).shape or (), node.given_attributes
    rank, new = len(shape), bool(given.get("new_axis", 0))
    at, axis = int(given.get("axis", 0)), rows.axis
    if not -rank <= axis < rank or not -(rank - (not new)) <= at < rank - (not new):
        return None
    at %= rank - (not new)
    order = [each for each in range(rank) if each != axis % rank]
    order.insert(at, axis % rank)
    if not new and shape[order[at + 1]] != 1:
        return None
    steps: list[Step] = [("Transpose", [], {"perm": order})]
    if not new:
        steps.append(("Squeeze", [draft.constant(f"{node.output[0]}_axes", [at + 1])], {}))
    return draft.chain(rows.tensor, node.output[0], steps, f"{rows.tensor}_turned")


_MAKERS: dict[str, Callable[[_Sequences, Node], list[str] | None]] = {
    "SequenceEmpty": lambda _, node: [],
    "SequenceConstruct": lambda _, node: list(node.input),
    "Identity": lambda known, node: known.parts.get(node.input[0]),
    "SplitToSequence": _Sequences.split,
    "SequenceInsert": _Sequences.inserted,
    "SequenceErase": _Sequences.erased,
}
_READERS: dict[str, Callable[[_Sequences, Node, list[str]], list[Node] | None]] = {
    "SequenceAt": _Sequences.at,
    "SequenceLength": _Sequences.length,
    "ConcatFromSequence": _Sequences.joined,
}
_ROW_READERS: dict[str, Callable[[Draft, Node, Rows], list[Node] | None]] = {
    "SequenceAt": _row_at,
    "SequenceLength": _row_count,
    "ConcatFromSequence": _rows_joined,
}


def sequences(model: Model) -> Model:
    """The model without the reads of sequences whose tensors are known."""
    if not any(node.op_type in _READERS and not node.domain for node in model.graph.node):
        return model
    draft = Draft(model)
    return draft.rewritten(_Sequences(draft).replaced)
