"""One import: neurons where the graph has tensors.

A tensor is an array of *signals*, shaped like it (the batch axis has length 1). An elementwise
node stays a formula until something else reads the result: then it is materialized, and an
activation is recognised. So rearranging a tensor costs nothing, and no neuron is made inside a
formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import ModelError
from neat_onnx.lifting.recognition import known_activation
from neat_onnx.lifting.reductions import NoNeuronError, neurons_of
from neat_onnx.lifting.registry import LIFTS, lifts
from neat_onnx.lifting.rows import SumRows
from neat_onnx.lifting.separate_samples import SeparateSamples
from neat_onnx.lifting.values import (
    DROPPED,
    INPUT,
    MATERIALIZED,
    NOT_FINITE,
    PRE_ACTIVATION,
    REGISTER,
    AffineElements,
    Array,
    NewConnections,
    NewNeurons,
    Operand,
    Value,
    each_once,
)
from neat_onnx.model import Node
from neat_onnx.model.budget import Budget
from neat_onnx.network.affine import line_of
from neat_onnx.network.expression import VARIABLE, Expression, number
from neat_onnx.network.genes import NONE, Floats, Ints, repeated
from neat_onnx.network.spatial import SpatialBlock

__all__ = [
    "DROPPED",
    "INPUT",
    "LIFTS",
    "MATERIALIZED",
    "NOT_FINITE",
    "PRE_ACTIVATION",
    "REGISTER",
    "Array",
    "LiftingContext",
    "NewNeurons",
    "Operand",
    "Value",
    "lifts",
]

_MAX_ELEMENTS = 1 << 22


class NotFiniteError(NoNeuronError):
    """A neuron would have to give a value that is not finite."""


@dataclass
class LiftingContext(SeparateSamples):
    """One import: the tensors of the graph, and the neurons made of them.

    Attributes:
        neurons: the neurons made so far, with their connections.
        blocks: the neurons that slide a window, as pre-activations, with the signals they read.
        rows: the products along the last axis of a tensor that has several rows.
        affine: the elements that normalizations scaled and shifted.
        formulas: each formula that was materialized, and its number.
        materialized: the signals of each value that was materialized.
        next, initial: for a register, the signal it takes at the end of a step, and its value
            before the first if not zero.
        not_finite: the signals of "inf", "-inf" and "nan", as far as there are any.
        vanishing: signals of exponentials that are 0 where an element is masked.
        whole: formulas grow past parts that have names of their own, as far as they fit.
        guarded: values are kept finite where a choice leaves them out, and powers of computed
            tensors are products of logarithms, by more neurons.
        undecided: a node was refused that may be a formula if formulas are whole, or guarded.
    """

    neurons: list[NewNeurons] = field(default_factory=list)
    blocks: list[SpatialBlock] = field(default_factory=list)
    rows: list[SumRows] = field(default_factory=list)
    affine: list[AffineElements] = field(default_factory=list)
    formulas: dict[Expression, int] = field(default_factory=dict)
    materialized: dict[Value, Ints] = field(default_factory=dict)
    next: dict[int, int] = field(default_factory=dict)
    initial: dict[int, float] = field(default_factory=dict)
    not_finite: dict[str, int] = field(default_factory=dict)
    vanishing: list[Ints] = field(default_factory=list)
    whole: bool = False
    guarded: bool = False
    undecided: bool = False

    def __post_init__(self) -> None:
        self._signals = np.empty((3, 1024), np.int64)
        self._signal_count = 0
        self._budget = Budget()
        self._connected = 0

    @property
    def kind(self) -> Ints:
        """For each signal, which kind it is."""
        return self._signals[0, : self._signal_count]

    @property
    def origin(self) -> Ints:
        """For each materialized signal, the signal that it was materialized from."""
        return self._signals[1, : self._signal_count]

    @property
    def formula_of(self) -> Ints:
        """For each materialized signal, the number of its formula."""
        return self._signals[2, : self._signal_count]

    def check_size(self, node: Node, count: int) -> None:
        """Refuse to make more than so many neurons for one node."""
        if count > _MAX_ELEMENTS:
            self.fail(node, f"it has {count} elements, more than {_MAX_ELEMENTS}")

    def add_signals(
        self, count: int, kind: int, origin: npt.ArrayLike = -1, formula: npt.ArrayLike = -1
    ) -> Ints:
        """New signals, by number."""
        self._budget.take("neurons", count, is_all=False)
        start, stop = self._signal_count, self._signal_count + count
        if stop > self._signals.shape[1]:
            more = np.empty((3, max(stop, 2 * self._signals.shape[1])), np.int64)
            more[:, :start] = self._signals[:, :start]
            self._signals = more
        self._signal_count = stop
        self._signals[0, start:stop] = kind
        self._signals[1, start:stop] = origin
        self._signals[2, start:stop] = formula
        return np.arange(start, stop)

    def add_neurons(
        self,
        count: int,
        *,
        aggregation: str = "sum",
        bias: npt.ArrayLike = 0.0,
        response: npt.ArrayLike = 1.0,
    ) -> NewNeurons:
        """Make neurons; connect their inputs with `connect`."""
        made = NewNeurons(
            signals=self.add_signals(count, PRE_ACTIVATION),
            aggregation=aggregation,
            bias=np.full(count, bias, np.float64),
            response=np.full(count, response, np.float64),
        )
        self.neurons.append(made)
        return made

    def connect(
        self,
        made: NewNeurons,
        source: Ints,
        position: Ints,
        weight: Floats,
        gate: Ints | None = None,
    ) -> None:
        """Connect signals to new neurons, which go by their positions; arrays of one length."""
        self._budget.take("connections", source.size, is_all=False)
        if gate is None or not np.any(gate != NONE):
            gates = repeated(NONE, source.size, np.int64)  # most are, and take no memory
        else:
            gates = gate.ravel()
        made.connections.append(
            NewConnections(self._connected, source.ravel(), position.ravel(), weight.ravel(), gates)
        )
        self._connected += 1

    def add_rows(self, rows: SumRows, made: NewNeurons | None = None) -> None:
        """Remember rows of neurons with the same weights, over rows of signals.

        Args:
            rows: they are remembered if a matrix of one row's weights saves something, alone or
                together with other rows of the same matrix.
            made: the neurons are new, and stay such rows whatever is added to them.
        """
        if rows.matters or rows.weights:
            self.rows.append(rows)
        if rows.matters and made is not None:
            made.rows = rows.neurons - made.signals[0]

    def merge(self, made: NewNeurons, other: NewNeurons) -> None:
        """Let `made` compute the sum of both; the neurons of `other` are no longer."""
        made.absorb(other)
        self.kind[other.signals] = DROPPED

    def as_value(self, node: Node, operand: Operand) -> Value:
        """An operand as it is, or neurons without inputs that give a constant."""
        if isinstance(operand, Value):
            return operand
        values = np.asarray(operand, np.float64)
        self.check_size(node, values.size)
        if not np.all(np.isfinite(values)):
            self.fail(node, "a constant that it reads has values that are not finite")
        made = self.add_neurons(values.size, bias=values.ravel())
        return Value(made.signals.reshape(values.shape))

    def feed(self, previous: str, following: str, *, activations: bool = False) -> None:
        """Feed the registers of the tensor `previous` from the tensor `following`.

        Args:
            previous, following: the tensors.
            activations: feed activations alone, as memory ports hold: a state with another
                activation gets a neuron of its own.

        Raises:
            ModelError: their shapes differ.
        """
        held, value = self.operands.get(previous), self.operands.get(following)
        if not isinstance(held, Value) or not isinstance(value, Value) or held.shape != value.shape:
            raise ModelError(
                f"output '{following}' does not fit the state '{previous}' that it feeds"
            )
        inside = any(register in self.next for register in held.signals.ravel().tolist())
        plain = value.plain and (inside or not activations)  # inside: of a layer over a sequence
        signals = value.signals if plain else self.materialize(value)
        if not self.hold(held.signals, signals):
            raise ModelError(
                f"output '{following}' is not the last state of the layers that begin with "
                f"'{previous}'"
            )

    def hold(self, registers: Ints, signals: Ints) -> bool:
        """Let registers take signals at the end of a step, if they take no others already."""
        taken = zip(registers.ravel().tolist(), signals.ravel().tolist(), strict=True)
        return all(self.next.setdefault(register, signal) == signal for register, signal in taken)

    def materialize(self, value: Value) -> Ints:
        """Signals that carry the elements of `value`, shaped like it; truth values as 1 and 0.

        Raises:
            NotFiniteError: an element is not finite.
        """
        if self.not_finite and np.any(self.kind[value.signals] == NOT_FINITE):
            raise NotFiniteError("a value that it reads is constant, and not finite")
        if value.plain and not np.any(self.kind[value.signals] == PRE_ACTIVATION):
            return value.signals
        if value not in self.materialized:
            formula = value.formula
            numbers = replace(value, formula=number(formula)) if formula.is_truth else value
            self.materialized[value] = self._materialize(numbers)
        return self.materialized[value]

    def _materialize(self, value: Value) -> Ints:
        if value.reduced:
            return self.materialize(neurons_of(self, value))
        slope, shift = line_of(value.formula) or (0.0, 0.0)
        if slope and shift and known_activation(value.formula, self.data_type) is None:
            return self._materialize_line(value, slope, shift)
        signals = self._multiplied(value)
        if value.formula == VARIABLE:
            fresh = self.kind[signals] == PRE_ACTIVATION
            result = signals.copy()
            result[fresh] = self.materialized_from(signals[fresh], VARIABLE)
            return result
        return self.materialized_from(signals.ravel(), value.formula).reshape(signals.shape)

    def _materialize_line(self, value: Value, slope: float, shift: float) -> Ints:
        """Neurons with a weight and a bias."""
        sources = self.materialize(replace(value, formula=VARIABLE))
        made = self.add_neurons(sources.size, bias=shift)
        self.connect(made, sources, np.arange(sources.size), np.full(sources.size, slope))
        return self.materialize(Value(made.signals.reshape(sources.shape)))

    def as_signals(self, value: Value) -> Value:
        """The value with neurons for its weights and gates, so that it is signals alone."""
        if (not value.unweighted and value.formula != VARIABLE) or value.reduced:
            return Value(self.materialize(value))
        return Value(self._multiplied(value))

    def _multiplied(self, value: Value) -> Ints:
        """The signals of a value times their weights and gates; neurons where there are any, one
        for all elements that are alike; for products of two signals, those made before.
        """
        if value.weight is None and value.gate is None:
            return value.signals
        changed = (value.gates >= 0) | (value.weight is not None)
        origins, weights, gates = (
            value.signals[changed],
            value.weights[changed],
            value.gates[changed],
        )
        first, which = each_once(origins, weights, gates)
        origins, weights, gates = origins[first], weights[first], gates[first]
        neurons = self.products.made(origins, weights, gates)
        if (new := neurons == NONE).any():
            origins, weights, gates = origins[new], weights[new], gates[new]
            sources = self.materialize(Value(origins))
            made = self.add_neurons(sources.size)
            self.connect(made, sources, np.arange(sources.size), weights, gates)
            self.products.add(origins, weights, gates, made.signals)
            neurons[new] = made.signals
        signals = value.signals.copy()
        signals[changed] = neurons[which]
        return signals

    def materialized_each(self, origin: Ints, formulas: Sequence[Expression], which: Ints) -> Ints:
        """New signals that are formulas of the signals `origin`, each the one at its `which`."""
        known = self.formulas
        numbers = np.array([known.setdefault(each, len(known)) for each in formulas], np.int64)
        return self.add_signals(len(origin), MATERIALIZED, origin, numbers[which])

    def materialized_from(self, origin: Ints, formula: Expression) -> Ints:
        """New signals that are `formula` of the signals `origin`; one for each that differs."""
        position = self.formulas.setdefault(formula, len(self.formulas))
        if np.all(origin[1:] > origin[:-1]):  # as most are
            return self.add_signals(len(origin), MATERIALIZED, origin, position)
        once, at = np.unique(origin, return_inverse=True)
        if len(once) == len(origin):
            return self.add_signals(len(origin), MATERIALIZED, origin, position)
        found: Ints = self.add_signals(len(once), MATERIALIZED, once, position)[at.reshape(-1)]
        return found
