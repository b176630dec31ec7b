"""Which axis of the graph's inputs each axis of a tensor is, followed through the nodes.

The batch need not stand first: a model may transpose [N, T, F] to [T, N, F] and take the steps
apart. An operator that moves axes has a rule (`follows`); for any other the axes of its operands
are aligned at the end, as elementwise operators and products of matrices align them.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting.axes import axes_of_inputs, static_inputs
from neat_onnx.lifting.values import Operand, Value
from neat_onnx.model import Graph, Node
from neat_onnx.model.value import is_fixed
from neat_onnx.model.wiring import reads
from neat_onnx.network.genes import Ints


class FollowedAxis(int):
    """The axis of the graph's inputs that an axis of a tensor is.

    It is FIRST or SECOND of their leading axes (time and the batch, or the batch alone), a FEATURE,
    or UNKNOWN; or a Reshape made one axis of several, with the batch inside: see `around`. Every
    axis of every tensor has one, so it is a number, which compares and hashes as fast as one.
    """

    __slots__ = ()

    @classmethod
    def around(cls, before: int) -> "FollowedAxis":
        """An axis that the batch is inside of, with so many elements of a sample before it."""
        return cls(INSIDE + before)

    @property
    def is_around(self) -> bool:
        """Whether the axis has been made of several, the batch among them."""
        return self >= INSIDE

    @property
    def before(self) -> int:
        """How many elements of a sample this axis has before the batch."""
        return max(1, self - INSIDE)


UNKNOWN, FEATURE, FIRST, SECOND, INSIDE = map(FollowedAxis, range(-2, 3))
"""In their order: all from INSIDE on have the batch inside."""

OF_FIRST, OF_SECOND = 1, 2
"""Marks of the sizes of these axes, in tensors of sizes; a product of both has both."""

FollowedAxes = tuple[FollowedAxis, ...]
"""The axes of a tensor."""

Rule = Callable[[Any, Any], Sequence[FollowedAxes]]
"""Takes an AxisFollower and a node that has been lifted; gives the axes of its outputs."""

_RULES: dict[type[Node], Rule] = {}
Decorated = TypeVar("Decorated", bound=Rule)


def follows(*operators: type[Node]) -> Callable[[Decorated], Decorated]:
    """Register the decorated function to say where the axes of these operators' outputs are.

    Raises:
        ModelError: one of them has such a function already.
    """

    def register(function: Decorated) -> Decorated:
        for operator in operators:
            if operator in _RULES:
                raise ModelError(f"two functions follow the axes of {operator.__name__}")
            _RULES[operator] = function
        return function

    return register


class AxisFollower:
    """Follows the axes of one graph's tensors, each node once.

    Attributes:
        operands: the tensors that have been lifted, by name.
        sizes: tensors that hold the size of time or the batch, and for each element of which.
        ended: names of tensors that have lost the time axis, as the end of a sequence has.
        samples: how many the graph is for, where that is fixed; 1 if it is not.
        inputs: the axes of each graph input.
        single: the graph is for one sample, which has none to mix with.
        shared: the tensors made of inputs without a batch, beside others: all samples share them.
    """

    def __init__(
        self,
        graph: Graph,
        operands: Mapping[str, Operand],
        sizes: Mapping[str, Ints],
        ended: Collection[str],
        samples: int = 1,
    ) -> None:
        self._graph, self.operands, self.sizes, self.samples = graph, operands, sizes, samples
        self.ended = ended
        self.inputs, self.single = _of_inputs(graph), _is_single(graph)
        self.shared = _shared(graph, self.inputs)
        self._known = dict(self.inputs)
        self._constant = {tensor.name for tensor in graph.initializer}
        self._next = 0

    @property
    def has_time(self) -> bool:
        """Whether an input has an axis of time besides the batch."""
        return any(SECOND in each for each in self.inputs.values())

    def of(self, name: str) -> FollowedAxes:
        """The axes of a tensor: a graph input, an initializer, or the output of a lifted node."""
        if name in self._constant or name in self.shared:
            return (FEATURE,) * self.rank(name)
        if name in self._known:
            return self._known[name]
        nodes = self._graph.node
        while name not in self._known and self._next < len(nodes):
            node = nodes[self._next]
            if node.output and not any(output in self.operands for output in node.output):
                break
            self._known.update(zip(node.output, self._outputs(node), strict=False))
            self._next += 1
        return self._known.get(name, (UNKNOWN,) * self.rank(name))

    def are_batches(self, node: Node, axis: int) -> bool:
        """Whether every input of a node is computed, and the batch is on this axis of it alone."""
        return not self.has_time and all(
            isinstance(self.operands.get(name), Value)
            and [at for at, kind in enumerate(self.of(name)) if kind != FEATURE]
            == [axis % self.rank(name)]
            and self.of(name)[axis] == FIRST
            for name in node.input
        )

    def mixes_time(self, node: Node) -> bool:
        """Whether a node that aligns the axes of its operands has time meet the batch."""
        if not self.has_time or type(node) in _RULES:
            return False
        read = [self.of(name)[::-1] for name in node.input if name in self.operands]
        return any({FIRST, SECOND} <= {*each} for each in zip_longest(*read))

    def rank(self, name: str) -> int:
        """The number of axes of a tensor that has been lifted."""
        operand = self.operands.get(name)
        return 0 if operand is None else len(operand.shape)

    def integers(self, node: Node, position: int) -> list[int] | None:
        """The constant input of a node at a position; None where it is left out or computed."""
        name = node.input[position] if position < len(node.input) else ""
        operand = self.operands.get(name)
        if operand is None or isinstance(operand, Value):
            return None
        return [int(each) for each in operand.ravel()]

    def _outputs(self, node: Node) -> Sequence[FollowedAxes]:
        operands = [self.operands.get(name) for name in node.output]
        if not any(isinstance(operand, Value) for operand in operands):
            return self._of_constants(node)
        return self._ruled(node)

    def _ruled(self, node: Node) -> Sequence[FollowedAxes]:
        rule = _RULES.get(type(node))
        if rule is not None:
            return rule(self, node)
        read = self._read(node)
        ranks = [self.rank(name) for name in node.output]
        of_rank = {rank: merged(read, rank) for rank in set(ranks)}
        return [of_rank[rank] for rank in ranks]

    def _read(self, node: Node) -> list[FollowedAxes]:
        return [
            self._known[name] if name in self._known else (FEATURE,) * self.rank(name)
            for name in node.input
            if name in self._known or name in self.operands
        ]

    def _of_constants(self, node: Node) -> Sequence[FollowedAxes]:
        """The batch is an axis of constants that were made in the size of the batch."""
        features = [(FEATURE,) * self.rank(name) for name in node.output]
        if self.has_time:
            return features
        for position in node.shape_inputs:
            sized = self.sizes.get(node.input[position])
            if sized is not None and sized.size == len(features[0]):
                shape = np.array(self.operands[node.output[0]].shape)
                batches = np.flatnonzero((sized.ravel() != 0) & (shape == 1)).tolist()
                return [tuple(FIRST if [k] == batches else FEATURE for k in range(len(shape)))]
        if not any(FIRST in axes for axes in self._read(node)):
            return features
        found = zip(self._ruled(node), features, strict=True)
        return [unknown if UNKNOWN in axes else axes for axes, unknown in found]


def _of_inputs(graph: Graph) -> dict[str, FollowedAxes]:
    """The axes of each graph input: time, the batch, features."""
    found: dict[str, FollowedAxes] = {}
    leading = axes_of_inputs(graph.inputs)
    static = static_inputs(graph.inputs, leading)
    for entry in graph.inputs:
        kinds = (SECOND,) if entry.name in static else (FIRST, SECOND)
        which = dict(zip(leading[entry.name], kinds, strict=False))
        found[entry.name] = tuple(
            which.get(axis, FEATURE) for axis in range(len(entry.shape or ()))
        )
    return found


def _shared(graph: Graph, inputs: Mapping[str, FollowedAxes]) -> set[str]:
    """The tensors that depend on inputs without a batch alone, where others have one.

    A graph of fixed sizes may have no batch at all.
    """
    found = {name for name, axes in inputs.items() if {FIRST, SECOND}.isdisjoint(axes)}
    if len(found) in (0, len(inputs)) or all(is_fixed(entry.shape) for entry in graph.inputs):
        return set()
    still = {tensor.name for tensor in graph.initializer}
    for node in graph.node:
        read = {*reads(node)} - {""}
        if read <= still:
            still.update(node.output)
        elif read <= found | still:
            found.update(node.output)
    return found


def _is_single(graph: Graph) -> bool:
    """Whether every input states that its batch is one sample."""
    leading = axes_of_inputs(graph.inputs)
    batches = [
        (entry.shape or ())[axes[-1]] for entry in graph.inputs if (axes := leading[entry.name])
    ]
    return all(size == 1 for size in batches)


def elements_before(followed: FollowedAxes, shape: tuple[int, ...]) -> int | None:
    """How many elements of one sample are before the batch; None where it is not known."""
    leading = [(at, axis) for at, axis in enumerate(followed) if axis != FEATURE]
    if len(leading) != 1 or leading[0][1] in (SECOND, UNKNOWN):
        return None
    ((at, axis),) = leading
    return math.prod(shape[:at]) * axis.before


def merged(read: Sequence[FollowedAxes], rank: int) -> FollowedAxes:
    """The axes of a tensor, from the axes of its operands, aligned at the end.

    It is so for elementwise operators, products of matrices, and whatever keeps the rank; where the
    rank changes, nothing is known.
    """
    different = set(read)
    if len(different) == 1 and rank == len(read[0]):
        return read[0]
    if rank not in {len(axes) for axes in different} or any(len(axes) > rank for axes in different):
        return (UNKNOWN,) * rank
    found = []
    for each in zip(*((FEATURE,) * (rank - len(axes)) + axes for axes in different), strict=True):
        kinds = set(each) - {FEATURE}
        found.append(FEATURE if not kinds else kinds.pop() if len(kinds) == 1 else UNKNOWN)
    return tuple(found)
