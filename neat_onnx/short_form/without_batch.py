"""A graph of one sample without the axis of the batch, where no operator needs it."""

from collections.abc import Mapping, Sequence

from neat_onnx.model import Model, Node, ValueInfo
from neat_onnx.model.value import is_fixed
from neat_onnx.passes.draft import Draft, is_one_of, with_graph, with_inputs
from neat_onnx.passes.drop_dead import without_dead
from neat_onnx.passes.each_sample import body_for_each_sample
from neat_onnx.passes.elementwise import is_elementwise
from neat_onnx.passes.splice import splice

_AXIS_BY_DEFAULT = {  # None where the first axis is, or none
    "ArgMax": None, "ArgMin": None, "Concat": None, "Gather": None, "GatherElements": None,
    "Hardmax": -1, "LayerNormalization": -1, "LogSoftmax": -1, "RMSNormalization": -1,
    "Softmax": -1, "Split": None,
}  # fmt: skip
_AXES_AS_INPUT = ("Squeeze", "Unsqueeze")


class _NeedsBatch(Exception):
    """A node needs the batch, or is not known not to."""


def without_batch(model: Model) -> Model | None:
    """The model whose computed tensors lack their first axis, which has one element; None if an
    operator needs it.
    """
    try:
        return _WithoutBatch(model).written()
    except _NeedsBatch:
        return None


class _WithoutBatch:
    """The graph that is written.

    Attributes:
        draft: with the constants that lack an axis as well.
    """

    def __init__(self, model: Model) -> None:
        self.draft = Draft(model)
        self._constants = model.graph.tensors

    def written(self) -> Model:
        """The model.

        Raises:
            _NeedsBatch: a node needs the batch.
        """
        graph = self.draft.model.graph
        for node in graph.node:
            self.draft.nodes += self._node(node)
        ends = ([_without_first(entry) for entry in each] for each in (graph.inputs, graph.outputs))
        inputs, outputs = ends
        return with_graph(without_dead(self.draft.finished()), inputs=inputs, outputs=outputs)

    def _node(self, node: Node) -> list[Node]:
        if is_elementwise(node):
            return [self._broadcast(node, node.input)]
        if is_one_of(node, "MatMul"):
            return [self._matmul(node)]
        if is_one_of(node, "Scan"):
            return self._of_each_sample(node)
        if is_one_of(node, "Transpose"):
            return [self._transpose(node)]
        if is_one_of(node, "Reshape", "Flatten"):
            return [self._reshape(node)]
        if is_one_of(node, "Slice"):
            return [self._slice(node)]
        if is_one_of(node, *_AXIS_BY_DEFAULT):
            return [self._along_axis(node)]
        if node.op_type.startswith("Reduce") or is_one_of(node, *_AXES_AS_INPUT):
            return [self._along_axes(node)]
        raise _NeedsBatch

    def _rank(self, name: str) -> int:
        return len(self._sizes(name)) + 1

    def _sizes(self, name: str) -> tuple[int, ...]:
        """The sizes of a tensor of one sample, without the axis of the batch."""
        shape = self.draft.facts(name).shape or (0,)
        sizes = shape[1:]
        if shape[0] != 1 or not is_fixed(sizes):
            raise _NeedsBatch
        return sizes

    def _read(self, names: Sequence[str]) -> tuple[list[str], int]:
        """The tensors among these that are computed, and how many axes each of them has."""
        computed = [name for name in names if name and name not in self._constants]
        ranks = {self._rank(name) for name in computed}
        if len(ranks) != 1:
            raise _NeedsBatch
        return computed, ranks.pop()

    def _broadcast(self, node: Node, names: Sequence[str]) -> Node:
        """A node that broadcasts these inputs, whose last axes stand below each other."""
        _, rank = self._read(names)
        reads = [
            self._constant(name, rank) if name in names and name in self._constants else name
            for name in node.input
        ]
        return with_inputs(node, reads)

    def _constant(self, name: str, rank: int) -> str:
        """A constant that is broadcast with tensors of so many axes, without that of the batch."""
        values = self._constants[name].values
        if values.ndim < rank:
            return name
        if values.ndim > rank or values.shape[0] != 1:
            raise _NeedsBatch
        return self.draft.constant(name, values[0], self._constants[name].data_type)

    def _matmul(self, node: Node) -> Node:
        left, right = node.input
        computed, rank = self._read(node.input)
        if rank < (2 if computed == [left] else 3):
            raise _NeedsBatch
        return self._broadcast(node, [left, right])

    def _of_each_sample(self, node: Node) -> list[Node]:
        """The nodes of a Scan over samples."""
        if (body := body_for_each_sample(node)) is None:
            raise _NeedsBatch
        self._read(node.input[:1])
        names = [entry.name for entry in body.inputs]
        return splice(self.draft, body, dict(zip(names, node.input, strict=True)), node.output)

    def _transpose(self, node: Node) -> Node:
        first, *rest = node.given_attributes.get("perm", (None,))
        self._read(node.input)
        if first != 0:
            raise _NeedsBatch
        return self._with(node, node.input, {"perm": [axis - 1 for axis in rest]})

    def _reshape(self, node: Node) -> Node:
        self._read(node.input[:1])
        sizes = self._sizes(node.output[0])
        shape = self.draft.constant("s", list(sizes) if len(sizes) > 1 else [-1] * len(sizes))
        return self.draft.node("Reshape", [node.input[0], shape], node.output, name=node.name)

    def _slice(self, node: Node) -> Node:
        source, starts, ends, *rest = node.input
        if not rest or not {starts, ends, *filter(None, rest)} <= self._constants.keys():
            raise _NeedsBatch
        axes, *steps = rest
        _, rank = self._read([source])
        moved = self.draft.constant(axes, _shifted(self._numbers(axes), rank))
        return with_inputs(node, [source, starts, ends, moved, *steps])

    def _along_axis(self, node: Node) -> Node:
        """A node along one axis that all its inputs have; the places of a Gather are constant."""
        axis = node.given_attributes.get("axis", _AXIS_BY_DEFAULT[node.op_type])
        if axis is None:
            raise _NeedsBatch
        data = node.input if is_one_of(node, "Concat") else node.input[:1]
        _, rank = self._read(data)
        others = {*node.input} - {*data}
        if not others <= self._constants.keys() or not self._constants.keys().isdisjoint(data):
            raise _NeedsBatch
        return self._with(node, node.input, {"axis": _shifted([axis], rank)[0]})

    def _along_axes(self, node: Node) -> Node:
        """A reduction, or another node along axes that are an attribute or an input."""
        _, rank = self._read(node.input[:1])
        if is_one_of(node, "Unsqueeze"):  # of which axes are those of the result
            rank = self._rank(node.output[0])
        if axes := node.given_attributes.get("axes"):
            return self._with(node, node.input, {"axes": _shifted(axes, rank)})
        if len(node.input) < 2:
            raise _NeedsBatch
        axes = _shifted(self._numbers(node.input[1]), rank)
        return with_inputs(node, [node.input[0], self.draft.constant(node.input[1], axes)])

    def _numbers(self, name: str) -> list[int]:
        if name not in self._constants:
            raise _NeedsBatch
        return [int(each) for each in self._constants[name].values.ravel()]

    def _with(self, node: Node, reads: Sequence[str], attributes: Mapping[str, object]) -> Node:
        """The node with other attributes."""
        given = {**node.given_attributes, **attributes}
        return self.draft.node(node.op_type, reads, node.output, name=node.name, **given)


def _shifted(axes: Sequence[int], rank: int) -> list[int]:
    """The axes without the first of so many."""
    if not axes or not {0, -rank}.isdisjoint(axes):
        raise _NeedsBatch
    return [axis - 1 if axis > 0 else axis for axis in axes]


def _without_first(entry: ValueInfo) -> ValueInfo:
    return ValueInfo.of(entry.name, entry.elem_type, (entry.shape or ())[1:])
