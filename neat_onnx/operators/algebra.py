"""Arithmetic on whole tensors, for operators that ONNX defines by others: a softmax, a norm.

tensors = Algebra(ctx, node)
x = tensors.input(0)
spread = tensors("exp", tensors("sub", x, tensors.reduced("max", x, (-1,))))
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, NewNeurons, Operand, Value
from neat_onnx.lifting.rows import SumRows
from neat_onnx.model import DataType, Node
from neat_onnx.model.budget import Budget
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.operators.formulas.arithmetic import value_of
from neat_onnx.operators.formulas.choice import applied

_OF_ARRAYS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "product": np.prod,
}


class Algebra:
    """The operands of one node, and elementwise and reducing operations on them.

    Everything it gives may be read several times: no operation changes the neurons of another.
    """

    def __init__(self, ctx: LiftingContext, node: Node) -> None:
        self._ctx, self._node = ctx, node

    @property
    def data_type(self) -> DataType:
        """The type of the model's numbers."""
        return self._ctx.data_type

    def input(self, position: int) -> Operand:
        """The operand that the node reads at `position`."""
        return shared(self._ctx.operand(self._node, position))

    def input_in(self, shape: tuple[int, ...], position: int) -> Operand:
        """The operand that the node reads at `position`, in another shape of as many elements."""
        found, wanted = self.input(position), math.prod(shape)
        if (count := math.prod(found.shape)) != wanted:
            name = self._node.input[position]
            self._ctx.fail(self._node, f"input '{name}' has {count} elements, expected {wanted}")
        return reshaped(found, shape)

    def optional(self, position: int) -> Operand | None:
        """The operand that the node reads at `position`; None where it is left out."""
        found = self._ctx.optional(self._node, position)
        return None if found is None else shared(found)

    def __call__(self, primitive: str, *operands: Operand | float) -> Operand:
        """Apply a primitive element by element, with numpy's broadcasting."""
        whole = [each if isinstance(each, Value) else np.asarray(each) for each in operands]
        return shared(applied(self._ctx, self._node, primitive, whole))

    def triangle(self, size: int, diagonal: int) -> Floats:
        """Ones on a diagonal and below, else 0: (size, size), if so many connections may be."""
        Budget().take("connections", size * (size + 1) // 2, self._node.label)
        return np.tri(size, k=diagonal)

    def activations(self, operand: Operand) -> Operand:
        """The operand as activations of neurons, where neurons have to compute it."""
        return Value(self._ctx.materialize(operand)) if isinstance(operand, Value) else operand

    def reduced(
        self, aggregation: str, operand: Operand, axes: tuple[int, ...], *, keepdims: bool = True
    ) -> Operand:
        """Reduce axes: sum, mean, max, min or product."""
        return shared(self.reduced_once(aggregation, operand, axes, keepdims=keepdims))

    def reduced_once(
        self, aggregation: str, operand: Operand, axes: tuple[int, ...], *, keepdims: bool = True
    ) -> Operand:
        """Reduce axes for a single reader, whose bias may become that of the neurons."""
        if not isinstance(operand, Value):
            function = _OF_ARRAYS[aggregation]
            return np.asarray(function(operand, axis=axes, keepdims=keepdims))
        rank = len(operand.shape)
        axes = tuple(sorted({axis % rank for axis in axes}))
        kept = tuple(1 if k in axes else size for k, size in enumerate(operand.shape))
        result = self._reduced(aggregation, operand, axes, kept)
        if not keepdims:
            shape = tuple(size for k, size in enumerate(kept) if k not in axes)
            result = result.rearranged(lambda array: array.reshape(shape))
        return result

    def along(
        self, operand: Operand, axis: int, matrix: Floats, aggregation: str = "sum"
    ) -> Operand:
        """Multiply each vector along an axis by a constant matrix (out, in).

        With the aggregation "product" the terms are multiplied, not added; the matrix has ones.
        """
        if not isinstance(operand, Value) and aggregation == "product":
            rows = np.moveaxis(np.asarray(operand), axis, -1)[..., None, :]
            return np.asarray(np.moveaxis(np.where(matrix, rows, 1).prod(axis=-1), -1, axis))
        if not isinstance(operand, Value):
            return np.moveaxis(np.tensordot(matrix, operand, (1, axis)), 0, axis)
        if operand.shape[axis] != matrix.shape[1]:
            sizes = f"{operand.shape[axis]} elements along axis {axis}, expected {matrix.shape[1]}"
            self._ctx.fail(self._node, f"it reads {sizes}")
        if aggregation == "sum" and operand.shape[axis] == operand.signals.size:
            operand, matrix = _weighed(operand, matrix)
        sources = np.moveaxis(self._ctx.materialize(operand), axis, -1)
        size = math.prod(sources.shape[:-1]) * len(matrix)
        self._ctx.check_size(self._node, size)
        made = self._ctx.add_neurons(size, aggregation=aggregation)
        before, after = operand.shape[:axis], operand.shape[axis:][1:]
        shape = (*before, len(matrix), *after)
        rows = np.moveaxis(np.arange(size).reshape(shape), axis, -1).reshape(-1, len(matrix))
        sources = sources.reshape(-1, matrix.shape[1])
        row, column = np.nonzero(matrix)
        self._connect(made, sources, rows, row, column, matrix[row, column])
        return value_of(made, shape)

    def weighed(
        self, operand: Operand, count: int, row: Ints, column: Ints, weight: Floats
    ) -> Operand:
        """Multiply each vector along the last axis by a constant matrix of few numbers.

        Args:
            operand: the vectors.
            count: of rows that the matrix has.
            row, column, weight: its numbers; several at one place are added.
        """
        size = operand.shape[-1]
        places, which = np.unique(row.ravel() * size + column.ravel(), return_inverse=True)
        total: Floats = np.bincount(which.ravel(), weight.ravel(), len(places)).astype(np.float64)
        places, total = places[total != 0], total[total != 0]
        row, column = places // size, places % size
        if not isinstance(operand, Value):
            matrix = np.zeros((count, size))
            matrix[row, column] = total
            return np.asarray(operand @ matrix.T)
        sources = self._ctx.materialize(operand).reshape(-1, size)
        self._ctx.check_size(self._node, len(sources) * max(count, len(row)))
        made = self._ctx.add_neurons(len(sources) * count)
        rows = np.arange(len(sources) * count).reshape(-1, count)
        self._connect(made, sources, rows, row, column, total)
        return value_of(made, (*operand.shape[:-1], count))

    def _connect(
        self, made: NewNeurons, sources: Ints, rows: Ints, row: Ints, column: Ints, weight: Floats
    ) -> None:
        """Connect each row of sources with a row of new neurons, by the same numbers of a matrix.

        Args:
            made: the neurons.
            sources: signals, (rows, inputs).
            rows: positions among the neurons, (rows, outputs).
            row, column, weight: the numbers of the matrix.
        """
        weights = np.broadcast_to(weight, (len(sources), len(row)))
        self._ctx.connect(made, sources[:, column], rows[:, row], weights)
        if made.aggregation == "sum":
            self._ctx.add_rows(SumRows(sources, made.signals[rows]), made)

    def _reduced(
        self, aggregation: str, value: Value, axes: tuple[int, ...], kept: tuple[int, ...]
    ) -> Value:
        count = math.prod(value.shape[axis] for axis in axes)
        if count == 1:
            return value.shared
        ctx, rows = self._ctx, math.prod(kept)
        Budget().take("connections", rows * count, self._node.label)
        kept_as_it_is = value.unweighted or (value.linear and aggregation == "sum")
        source = value if kept_as_it_is else Value(ctx.materialize(value))
        gate, weight = source.gate, source.weight
        last = tuple(range(-len(axes), 0))

        def by_row(array: Array) -> Array:
            return np.moveaxis(array, axes, last).reshape(-1)

        signals = by_row(ctx.materialize(Value(source.signals)))
        weights = np.ones(signals.size) if weight is None else by_row(weight)
        made = ctx.add_neurons(rows, aggregation=aggregation)
        position = np.repeat(np.arange(rows), count)
        gates = np.full(signals.size, -1) if gate is None else by_row(gate)
        kept_ones = weights != 0 if aggregation == "sum" else np.ones(signals.size, np.bool_)
        ctx.connect(made, *(each[kept_ones] for each in (signals, position, weights, gates)))
        if aggregation == "sum" and weight is not None and gate is None:
            add_products(ctx, signals.reshape(rows, count), made.signals)
        return value_of(made, kept)


def add_products(ctx: LiftingContext, sources: Ints, targets: Ints) -> None:
    """Remember sums (n,) over sources (n, k) as products: of some rows of sources, several each.

    Sums over the same sources are the outputs of one row.
    """
    first, again = np.unique(sources[:, 0], return_inverse=True)
    if not len(first) or len(targets) % len(first):
        return
    order = np.argsort(again, kind="stable").reshape(len(first), -1)
    of_row = sources[order]
    if np.array_equal(of_row, np.broadcast_to(of_row[:, :1], of_row.shape)):
        ctx.add_rows(SumRows(of_row[:, 0], targets[order]))


def _weighed(value: Value, matrix: Floats) -> tuple[Value, Floats]:
    """A single vector and a matrix that multiplies it; weights of its elements go to the matrix."""
    if value.weight is None or value.gate is not None or not value.linear:
        return value, matrix
    return Value(value.signals), matrix * value.weight.ravel()


def shared(operand: Operand) -> Operand:
    """Share elements among several readers, none of which may change neurons."""
    return operand.shared if isinstance(operand, Value) else operand


def rearranged(operand: Operand, change: Callable[[Array], Array]) -> Operand:
    """The same elements in another order or shape; some may be repeated or left out."""
    return operand.rearranged(change) if isinstance(operand, Value) else change(operand)


def reshaped(operand: Operand, shape: tuple[int, ...]) -> Operand:
    """The same elements in another shape."""
    return rearranged(operand, lambda array: array.reshape(shape))
