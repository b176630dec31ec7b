"""The tensors of a graph as an import meets them: looked up by the nodes that read them.

A constant is an array, any other tensor is a Value; the neurons behind values are made by
`LiftingContext`, on top of this.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NoReturn

import numpy as np

from neat_onnx.errors import Hint, ModelError
from neat_onnx.lifting.facts import OperandFacts
from neat_onnx.lifting.followed_axes import AxisFollower
from neat_onnx.lifting.registry import INFINITE
from neat_onnx.lifting.samples import ends_of_batch, first_sample
from neat_onnx.lifting.values import Array, Operand, Products, Value
from neat_onnx.lifting.ways_out import FINITE, initializer_hint
from neat_onnx.lifting.wiring import Wiring
from neat_onnx.model import DataType, Model, Node
from neat_onnx.model.budget import Budget
from neat_onnx.model.whole_numbers import are_whole
from neat_onnx.model.wiring import names_read
from neat_onnx.network.genes import Ints
from neat_onnx.model.draft import Draft


def _is_finite(array: Array) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


class ConstantInputError(ModelError):
    """An input that has to be computed is a constant."""


@dataclass
class Tensors:
    """The tensors of the graph that is imported.

    Attributes:
        model: the model.
        features_only: every axis of the inputs is features; no batch, no time.
        samples: how many the graph is for, where that is fixed; 1 if it is not.
        operands: every tensor met so far, by name: constants as arrays, others as values.
        integer: names of tensors of integers; neurons carry them as numbers.
        facts: other facts about tensors, by name.
        hits: the comparisons of a tensor of indices with each place that they may name (as
            `OperandFacts.chosen` has them), by its elements and the number of places: other
            readers of such indices take these.
        products: the neurons that are signals times weights and gates.
        sizes: tensors that hold the size of time or the batch, and for each element of which.
        states: names of the inputs that outputs feed.
        ended: names of tensors that have lost the time axis, as the end of a sequence has.
        time_alone: a layer runs along the first axis, beside which there is no batch.
    """

    model: Model
    features_only: bool = False
    samples: int = 1
    operands: dict[str, Operand] = field(default_factory=dict)
    integer: set[str] = field(default_factory=set)
    facts: defaultdict[str, OperandFacts] = field(default_factory=lambda: defaultdict(OperandFacts))
    hits: dict[Hashable, Operand] = field(default_factory=dict)
    products: Products = field(default_factory=Products)
    sizes: dict[str, Ints] = field(default_factory=dict)
    states: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    time_alone: bool = False

    @cached_property
    def data_type(self) -> DataType:
        """The type of the numbers."""
        return self.model.graph.number_type

    def operand(self, node: Node, position: int) -> Operand:
        """The tensor that `node` reads at `position`."""
        name = node.input[position]
        if name not in self.operands:
            self.fail(
                node,
                f"input '{name}' is no output of a node before it, no initializer, no graph input",
            )
        found = self.operands[name]
        if node.op_type not in INFINITE and not isinstance(found, Value) and not _is_finite(found):
            self.fail(node, f"its constant input '{name}' has values that are not finite", FINITE)
        return found if isinstance(found, Value) else self._of_one_sample(node, found)

    def _of_one_sample(self, node: Node, array: Array) -> Array:
        """A constant as one sample reads it, where it is the same for each of a fixed number."""
        if self.samples == 1 or node.unaligned is None:
            return array
        computed = (name for name in node.input if isinstance(self.operands.get(name), Value))
        from_end = {axis for name in computed for axis in ends_of_batch(self.followed.of(name))}
        axis = array.ndim - max(from_end, default=0)
        if len(from_end) != 1 or not 0 <= axis < array.ndim - node.unaligned:
            return array
        return first_sample(array, axis, self.samples)

    def optional(self, node: Node, position: int) -> Operand | None:
        """The tensor that `node` reads at `position`; None where it is left out."""
        if position >= len(node.input) or not node.input[position]:
            return None
        return self.operand(node, position)

    def value(self, node: Node, position: int) -> Value:
        """The tensor at `position`, which has to be computed."""
        found = self.operand(node, position)
        if not isinstance(found, Value):
            raise ConstantInputError(
                f"node {node.label}: input '{node.input[position]}' is a constant",
                where=self.path(node),
            )
        return found

    def constant(self, node: Node, position: int) -> Array:
        """The tensor at `position`, which has to be constant."""
        found = self.operand(node, position)
        if isinstance(found, Value):
            hint = initializer_hint(self.model.graph, name := node.input[position])
            self.fail(node, f"input '{name}' is computed, and has to be constant", hint)
        return found

    def integers(self, node: Node, position: int) -> list[int]:
        """The constant at `position` as a list of integers."""
        values = self.constant(node, position)
        if values.dtype.kind != "i":
            self.fail(node, f"input '{node.input[position]}' has to be of integers")
        return [int(value) for value in values.ravel()]

    def integer_of(self, node: Node, position: int) -> int:
        """The constant at `position`, which has to be a single integer."""
        self.integers(node, position)
        return int(self.single(node, position))

    def single(self, node: Node, position: int) -> Array:
        """The constant at `position`, which has to be a single element; without axes."""
        values = self.constant(node, position)
        if values.size != 1:
            name = node.input[position]
            self.fail(node, f"input '{name}' has {values.size} elements, expected 1")
        return values.reshape(())

    def has_integers(self, node: Node) -> bool:
        """Whether a node reads integers, and besides them nothing but truth values."""
        found = False
        for name in node.input:
            if name not in self.operands or self._is_truth(name):
                continue
            if not self.is_integer(name):
                return False
            found = True
        return found

    def is_of_numbers(self, name: str) -> bool:
        """Whether a tensor is of neither integers nor truth values."""
        return not self.is_integer(name) and not self._is_truth(name)

    def is_integer(self, name: str) -> bool:
        """Whether a tensor is of integers."""
        operand = self.operands[name]
        return name in self.integer or (
            not isinstance(operand, Value) and operand.dtype.kind in "iu"
        )

    def is_whole(self, name: str) -> bool:
        """Whether a tensor is known to have whole numbers alone."""
        operand = self.operands.get(name)
        if operand is None or isinstance(operand, Value):
            return self.facts[name].is_whole or name in self.integer
        return are_whole(operand)

    def _is_truth(self, name: str) -> bool:
        operand = self.operands[name]
        if isinstance(operand, Value):
            return operand.formula.is_truth
        return operand.dtype.kind == "b"

    def bind(self, node: Node, *operands: Operand) -> None:
        """Record the values of the outputs of `node`; an output that is left out has no name."""
        elements = sum(math.prod(operand.shape) for operand in operands)
        Budget().take("elements", elements, node.label)
        for name, operand in zip(node.output, operands, strict=False):
            if isinstance(operand, Value) and self._readers[name] != 1:
                operand = operand.shared  # noqa: PLW2901
            self.operands[name] = operand

    def fail(self, node: Node, message: str, hint: Hint | Iterable[Hint] | None = None) -> NoReturn:
        """Raise ModelError about `node`."""
        raise ModelError(f"node {node.label}: {message}", where=self.path(node), hint=hint)

    def path(self, node: Node) -> str | None:
        """Where the node stands in the document; None inside of another node's graph."""
        position = self._positions.get(id(node))
        return None if position is None else f"graph.node[{position}]"

    @cached_property
    def wiring(self) -> Wiring:
        """The nodes that give and read each tensor."""
        return Wiring(self.model.graph)

    @cached_property
    def draft(self) -> Draft:
        """The graph, with the types and shapes that are known of its tensors."""
        return Draft(self.model)

    @cached_property
    def followed(self) -> AxisFollower:
        """Where time and the batch are among the axes of each tensor."""
        return AxisFollower(self.model.graph, self.operands, self.sizes, self.ended, self.samples)

    @cached_property
    def _readers(self) -> Counter[str]:
        return Counter(names_read(self.model.graph))

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {id(node): position for position, node in enumerate(self.model.graph.node)}

    def broadcast(self, node: Node, *shapes: tuple[int, ...]) -> tuple[int, ...]:
        """The shape that tensors of these shapes are broadcast to.

        Raises:
            ModelError: they cannot be.
        """
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            listed = " and ".join(str(list(shape)) for shape in shapes)
            self.fail(node, f"the shapes {listed} cannot be broadcast to one")

    def axes(self, node: Node, axes: Iterable[int], rank: int) -> tuple[int, ...]:
        """Axes of a tensor that has `rank` of them, each counted from 0.

        Raises:
            ModelError: there is no such axis.
        """
        given = tuple(axes)
        if any(not -rank <= axis < rank for axis in given):
            self.fail(node, f"its axes are {list(given)}, and its input has {rank}")
        return tuple(axis % rank for axis in given)
