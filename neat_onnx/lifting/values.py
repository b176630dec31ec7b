"""Tensors of a graph in terms of signals, and the neurons and connections in the making.

A signal is a number that an input neuron gives, the pre-activation of a neuron that was
lifted, an activation of one of these (*materialized*), or the value of another signal one step
ago (a *register*). No neuron gives a value that is not finite: such an element of
a tensor is a signal of its own kind, until an operator that does without it has read it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from neat_onnx.network.expression import VARIABLE, Expression
from neat_onnx.network.genes import NONE, Bools, Floats, Ints

Array = npt.NDArray[Any]

INPUT, PRE_ACTIVATION, MATERIALIZED, REGISTER, DROPPED, NOT_FINITE = range(6)
_NO_INTS = np.empty(0, np.int64)


@dataclass(frozen=True)
class NewConnections:
    """Connections in the making, into neurons that are made together.

    Attributes:
        number: how many were made before them; a neuron adds its inputs in this order.
        source: signals.
        position: the target of each, as a position among the new neurons.
        weight: of each.
        gate: signals that multiply the weights, -1 for none.
    """

    number: int
    source: Ints
    position: Ints
    weight: Floats
    gate: Ints


@dataclass(eq=False)
class NewNeurons:
    """Neurons that are made together, with the connections into them.

    Attributes:
        signals: their pre-activations, consecutive.
        aggregation: of all of them.
        bias, response: of each.
        connections: into them.
        spatial: they slide a window; that would be lost if they were merged with others.
        rows: the positions of those that share one matrix of weights, (rows, outputs), which would
            be lost as well; None if none do.
        merged: they became part of others, and are no longer.
    """

    signals: Ints
    aggregation: str
    bias: Floats
    response: Floats
    connections: list[NewConnections] = field(default_factory=list)
    spatial: bool = False
    rows: Ints | None = None
    merged: bool = False

    @property
    def fan_in(self) -> Ints:
        """How many connections lead into each."""
        targets = [_NO_INTS, *(each.position for each in self.connections)]
        return np.bincount(np.concatenate(targets), minlength=len(self.signals))

    @property
    def is_plain_sum(self) -> bool:
        """Each is a sum, with the response 1."""
        return self.aggregation == "sum" and bool(np.all(self.response == 1.0))

    @property
    def takes_inputs(self) -> bool:
        """Each is a sum, with the response 1, that may have more inputs."""
        return self.is_plain_sum and not self.spatial and self.rows is None

    def takes(self, values: Floats) -> bool:
        """Whether rows stay alike with these biases, or factors, one for each neuron."""
        if self.rows is None:
            return True
        by_row = values[self.rows]
        return bool(np.all(by_row == by_row[:1]))

    def absorb(self, other: NewNeurons) -> None:
        """Compute the sum of both; `other` is no longer."""
        both = [*self.connections, *other.connections]
        self.connections = sorted(both, key=lambda each: each.number)
        self.bias = np.where(self.bias == 0, other.bias, self.bias + other.bias)
        other.merged = True

    def scale(self, factors: Floats) -> None:
        """Multiply the weights and the bias of each by its factor."""
        self.connections = [
            replace(each, weight=each.weight * factors[each.position]) for each in self.connections
        ]
        self.bias = self.bias * factors


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of the graph, in terms of signals; compared and hashed by identity.

    Attributes:
        signals: the signal of each element; if `reduced`, one more axis at the end, over which
            the formula reduces.
        formula: each element as an expression of its signal, or of its signals times their weights.
        weight: multiplies each signal before the formula; None for 1.
        gate: signals that multiply them as well, -1 for none; None for none at all.
        reduced: the formula has reduced the last axis of `signals`.
        made: the neurons that this tensor is, element by element, while nothing but the next node
            reads it: a constant that it adds or multiplies can become their bias or response.
    """

    signals: Ints
    formula: Expression = VARIABLE
    weight: Floats | None = None
    reduced: bool = False
    gate: Ints | None = None
    made: NewNeurons | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor: that of its signals, without the axis that is reduced."""
        return self.signals.shape[:-1] if self.reduced else self.signals.shape

    @property
    def plain(self) -> bool:
        """It is its signals, and nothing was done to them."""
        return self.unweighted and self.gate is None

    @property
    def elementwise(self) -> bool:
        """It is a formula of each of its signals alone."""
        return self.weight is None and self.gate is None and not self.reduced

    @property
    def unweighted(self) -> bool:
        """It is its signals, and nothing was done to them but gating."""
        return self.weight is None and self.linear

    @property
    def linear(self) -> bool:
        """It is its signals, and nothing was done to them but weighing and gating."""
        return (self.formula is VARIABLE or self.formula == VARIABLE) and not self.reduced

    @property
    def gates(self) -> Ints:
        """The gate of each signal, -1 for none."""
        return np.full(self.signals.shape, -1) if self.gate is None else self.gate

    @property
    def weights(self) -> Floats:
        """The weight of each signal."""
        return np.ones(self.signals.shape) if self.weight is None else self.weight

    def rearranged(self, change: Callable[[Array], Array]) -> Value:
        """The value with `change` applied to the array of its elements (not to a reduced axis)."""
        return self.taken(np.asarray(change(self.order)))

    @property
    def order(self) -> Ints:
        """The position of each element in C order, in the value's shape."""
        return np.arange(math.prod(self.shape)).reshape(self.shape)

    def _is_all_in(self, order: Ints) -> bool:
        """Whether these are the positions of all elements, one after the other."""
        count = math.prod(self.shape)
        return order.size == count and bool(np.array_equal(order.ravel(), np.arange(count)))

    def taken(self, order: Ints) -> Value:
        """The elements at these positions, in the shape of `order`.

        Another shape of all elements in their order is still the neurons that were made, but for
        neurons that slide a window: by their shape they know channels and space.
        """
        count = math.prod(self.shape)

        def moved(values: Array) -> Array:
            return np.asarray(values.reshape(count, *values.shape[len(self.shape) :])[order])

        made = self.made
        if made is not None and (made.spatial or not self._is_all_in(order)):
            made = None
        return Value(
            moved(self.signals),
            self.formula,
            None if self.weight is None else moved(self.weight),
            self.reduced,
            None if self.gate is None else moved(self.gate),
            made,
        )

    @property
    def shared(self) -> Value:
        """The same value, for several readers: none of them may change its neurons."""
        return self if self.made is None else replace(self, made=None)


Operand = Value | Array


class AffineElements(NamedTuple):
    """Elements that are factors · signals + shifts, arrays of one length.

    Attributes:
        signals: the signal of each element.
        factors, shifts: numbers that each is multiplied by, and that are added to it.
        neurons: the pre-activations that they are.
    """

    signals: Ints
    factors: Floats
    shifts: Floats
    neurons: Ints = _NO_INTS


def each_once(*columns: Array) -> tuple[Ints, Ints]:
    """Where each different row stands first, in the order of these, and which of them each row is.

    Args:
        columns: the numbers in the rows, by column; of one length.
    """
    order = np.lexsort(columns)
    new = np.ones(len(order), np.bool_)
    if len(order):
        ordered = [each[order] for each in columns]
        new[1:] = np.any([each[1:] != each[:-1] for each in ordered], axis=0)
    firsts = order[new]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(new) - 1
    turned = np.argsort(firsts)
    numbers = np.empty(len(firsts), np.int64)
    numbers[turned] = np.arange(len(firsts))
    return firsts[turned], numbers[ranks]


class Products:
    """The neurons that are signals times weights and gates, to be found when these are moved."""

    def __init__(self) -> None:
        self._made: list[tuple[Array, ...]] = []
        self._are_factors: Bools = np.zeros(0, np.bool_)  # of a product, by signal
        self._found: dict[tuple[int, float, int], int] = {}

    def add(self, signals: Ints, weights: Floats, gates: Ints, neurons: Ints) -> None:
        """Remember new neurons, one for each signal; arrays of one length."""
        self._made.append((signals, weights, gates, neurons))
        if signals.size and (size := int(signals.max()) + 1) > len(self._are_factors):
            longer = np.zeros(2 * size, np.bool_)
            longer[: len(self._are_factors)] = self._are_factors
            self._are_factors = longer
        self._are_factors[signals] = True

    def neurons_of(self, value: Value) -> list[int | None]:
        """The neuron of each element before its formula, None where there is none."""
        return self._known(value.signals, value.weights, value.gates)

    def made(self, signals: Ints, weights: Floats, gates: Ints) -> Ints:
        """The neuron of each product of two signals, NONE where there is none; of one length."""
        found = np.full(len(signals), NONE)
        at = np.flatnonzero((gates != NONE) & (signals < len(self._are_factors)))
        if (at := at[self._are_factors[signals[at]]]).size:
            known = self._known(signals[at], weights[at], gates[at])
            found[at] = [NONE if each is None else each for each in known]
        return found

    def _known(self, *factors: Array) -> list[int | None]:
        for columns in self._made:
            for *key, neuron in zip(*(each.tolist() for each in columns), strict=True):
                self._found[key[0], key[1], key[2]] = neuron
        self._made.clear()
        keys = zip(*(each.ravel().tolist() for each in factors), strict=True)
        return [self._found.get(key) for key in keys]
