"""The state of one import: neurons where the graph has tensors.

A tensor is an array of *signals*, shaped like it (the batch axis has length 1). An elementwise
node stays a formula until something else reads the result: then it is materialized, and an
activation is recognised. So rearranging a tensor costs nothing, and no neuron is made inside a
formula.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import ModelError, NeatOnnxError
from neat_onnx.lifting.batch_size import follow_batch_size
from neat_onnx.lifting.registry import LIFTS, lifts
from neat_onnx.lifting.values import (
    DROPPED,
    INPUT,
    MATERIALIZED,
    REGISTER,
    STATE,
    Array,
    NewConnections,
    NewNeurons,
    Operand,
    Value,
)
from neat_onnx.model import DataType, Model, Node
from neat_onnx.model.budget import Budget
from neat_onnx.model.wiring import names_read, subgraphs
from neat_onnx.network.expression import VARIABLE, Expression, number, parts_of
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.network.primitives import REDUCING
from neat_onnx.network.spatial import SpatialBlock

__all__ = [
    "DROPPED",
    "INPUT",
    "LIFTS",
    "MATERIALIZED",
    "REGISTER",
    "STATE",
    "Array",
    "LiftingContext",
    "NewNeurons",
    "Operand",
    "Value",
    "lift_node",
    "lifts",
]

_MOST_NEURONS = 1 << 22
_AGGREGATIONS = {"total": "sum", "product": "product", "largest": "max", "smallest": "min"}


@dataclass
class LiftingContext:
    """The state of one import.

    Attributes:
        model: the model.
        features_only: every axis of the inputs is features; no batch, no time.
        operands: every tensor met so far, by name: constants as arrays, others as values.
        neurons: the neurons made so far, with their connections.
        blocks: the neurons that slide a window, by their states, with the signals that they read.
        formulas: each formula that was materialized, and its number.
        materialized: the signals of each value that was materialized.
        next, initial: for a register, the signal it takes at the end of a step, and its value
            before the first if not zero.
        integer: names of tensors of integers; neurons carry them as numbers.
        sizes: names of tensors that hold the size of the batch.
        ended: names of tensors that have lost the time axis, as the end of a sequence has.
    """

    model: Model
    features_only: bool = False
    operands: dict[str, Operand] = field(default_factory=dict)
    neurons: list[NewNeurons] = field(default_factory=list)
    blocks: list[SpatialBlock] = field(default_factory=list)
    formulas: dict[Expression, int] = field(default_factory=dict)
    materialized: dict[Value, Ints] = field(default_factory=dict)
    next: dict[int, int] = field(default_factory=dict)
    initial: dict[int, float] = field(default_factory=dict)
    integer: set[str] = field(default_factory=set)
    sizes: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._signals = np.empty((3, 1024), np.int64)
        self._signal_count = 0
        self._budget = Budget()
        self._connected = 0
        self._readers = Counter(names_read(self.model.graph))

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

    @property
    def data_type(self) -> DataType:
        """The type of the numbers."""
        inputs = self.model.graph.inputs
        return inputs[0].elem_type if inputs else DataType.FLOAT

    # --- tensors ---------------------------------------------------------------------------------

    def operand(self, node: Node, position: int) -> Operand:
        """The tensor that `node` reads at `position`."""
        name = node.input[position]
        if name not in self.operands:
            self.fail(
                node,
                f"input '{name}' is no output of a node before it, no initializer, no graph input",
            )
        return self.operands[name]

    def optional(self, node: Node, position: int) -> Operand | None:
        """The same, or None where it is left out."""
        if position >= len(node.input) or not node.input[position]:
            return None
        return self.operand(node, position)

    def value(self, node: Node, position: int) -> Value:
        """The tensor at `position`, which has to be computed."""
        found = self.operand(node, position)
        if not isinstance(found, Value):
            self.fail(node, f"input '{node.input[position]}' is a constant")
        return found

    def constant(self, node: Node, position: int) -> Array:
        """The tensor at `position`, which has to be constant."""
        found = self.operand(node, position)
        if isinstance(found, Value):
            self.fail(node, f"input '{node.input[position]}' is computed, and has to be constant")
        return found

    def integers(self, node: Node, position: int) -> list[int]:
        """The constant at `position` as a list of integers."""
        values = self.constant(node, position)
        if values.dtype.kind != "i":
            self.fail(node, f"input '{node.input[position]}' has to be of integers")
        return [int(value) for value in values.ravel()]

    def has_integers(self, node: Node) -> bool:
        """Whether a node reads integers, and besides them nothing but truth values."""
        names = [name for name in node.input if name in self.operands and not self._is_truth(name)]
        return bool(names) and all(self._is_integer(name) for name in names)

    def is_of_numbers(self, name: str) -> bool:
        """Whether a tensor is of neither integers nor truth values."""
        return not self._is_integer(name) and not self._is_truth(name)

    def _is_integer(self, name: str) -> bool:
        operand = self.operands[name]
        return name in self.integer or (
            not isinstance(operand, Value) and operand.dtype.kind in "iu"
        )

    def _is_truth(self, name: str) -> bool:
        operand = self.operands[name]
        if isinstance(operand, Value):
            return operand.formula.is_truth
        return operand.dtype.kind == "b"

    def bind(self, node: Node, *operands: Operand) -> None:
        """Record the values of the outputs of `node`; an output that is left out has no name."""
        for name, operand in zip(node.output, operands, strict=False):
            Budget().take("elements", math.prod(operand.shape), node.label)
            if isinstance(operand, Value) and self._readers[name] != 1:
                operand = operand.shared  # noqa: PLW2901
            self.operands[name] = operand

    def fail(self, node: Node, message: str, hint: str | None = None) -> NoReturn:
        """Raise ModelError about `node`."""
        raise ModelError(f"node {node.label}: {message}", where=self.path(node), hint=hint)

    def path(self, node: Node) -> str | None:
        """Where the node stands in the document; None inside of another node's graph."""
        position = self._positions.get(id(node))
        return None if position is None else f"graph.node[{position}]"

    def readers_of(self, name: str) -> set[str]:
        """The operators that read a tensor, in the graph or in one inside it."""
        return self._operators_reading.get(name, set())

    @cached_property
    def _operators_reading(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        graphs = [self.model.graph]
        while graphs:
            for node in graphs.pop().node:
                graphs.extend(subgraphs(node))
                for name in node.input:
                    found.setdefault(name, set()).add(node.op_type)
        return found

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {id(node): position for position, node in enumerate(self.model.graph.node)}

    def refuse_batch(self, node: Node, axes: Iterable[int]) -> None:
        """Refuse to work along the first axis where that is the batch: it would mix samples."""
        if not self.features_only and 0 in axes:
            self.fail(
                node,
                "it works along the first axis, the batch, and would mix samples",
                "Import with batch_axis=None to take every axis for features",
            )

    def check_size(self, node: Node, count: int) -> None:
        """Refuse to make more than so many neurons for one node."""
        if count > _MOST_NEURONS:
            self.fail(node, f"it has {count} elements, more than {_MOST_NEURONS}")

    # --- neurons ---------------------------------------------------------------------------------

    def add_signals(
        self, count: int, kind: int, origin: npt.ArrayLike = -1, formula: int = -1
    ) -> Ints:
        """New signals, by number."""
        self._budget.take("neurons", count)
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
            states=self.add_signals(count, STATE),
            aggregation=aggregation,
            bias=np.array(np.broadcast_to(bias, count), np.float64),
            response=np.array(np.broadcast_to(response, count), np.float64),
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
        self._budget.take("connections", source.size)
        gates = np.full(source.size, -1) if gate is None else gate.ravel()
        made.connections.append(
            NewConnections(self._connected, source.ravel(), position.ravel(), weight.ravel(), gates)
        )
        self._connected += 1

    def merge(self, made: NewNeurons, other: NewNeurons) -> None:
        """Let `made` compute the sum of both; the neurons of `other` are no longer."""
        made.absorb(other)
        self.kind[other.states] = DROPPED

    def as_value(self, node: Node, operand: Operand) -> Value:
        """An operand as it is, or neurons without inputs that give a constant."""
        if isinstance(operand, Value):
            return operand
        values = np.asarray(operand, np.float64)
        self.check_size(node, values.size)
        if not np.all(np.isfinite(values)):
            self.fail(node, "a constant that it reads has values that are not finite")
        made = self.add_neurons(values.size, bias=values.ravel())
        return Value(made.states.reshape(values.shape))

    def feed(self, previous: str, following: str) -> None:
        """Feed the registers of the tensor `previous` from the tensor `following`.

        Raises:
            ModelError: their shapes differ.
        """
        held, value = self.operands.get(previous), self.operands.get(following)
        if not isinstance(held, Value) or not isinstance(value, Value) or held.shape != value.shape:
            raise ModelError(
                f"output '{following}' does not fit the state '{previous}' that it feeds"
            )
        signals = value.signals if value.plain else self.materialize(value)
        self.next.update(zip(held.signals.ravel().tolist(), signals.ravel().tolist(), strict=True))

    def materialize(self, value: Value) -> Ints:
        """Signals that carry the elements of `value`, shaped like it; truth values as 1 and 0."""
        if value.plain and not np.any(self.kind[value.signals] == STATE):
            return value.signals
        if value not in self.materialized:
            formula = value.formula
            numbers = replace(value, formula=number(formula)) if formula.is_truth else value
            self.materialized[value] = self._materialize(numbers)
        return self.materialized[value]

    def _materialize(self, value: Value) -> Ints:
        if value.reduced:
            return self._materialize_reduced(value)
        signals = self._multiplied(value)
        if value.formula == VARIABLE:
            fresh = self.kind[signals] == STATE
            result = signals.copy()
            result[fresh] = self.materialized_from(signals[fresh], VARIABLE)
            return result
        return self.materialized_from(signals.ravel(), value.formula).reshape(signals.shape)

    def _multiplied(self, value: Value) -> Ints:
        """The signals of a value times their weights and gates; neurons where there are any."""
        if value.weight is None and value.gate is None:
            return value.signals
        weight = np.ones(value.signals.shape) if value.weight is None else value.weight
        changed = (value.gates >= 0) | (value.weight is not None)
        sources = self.materialize(Value(value.signals[changed]))
        made = self.add_neurons(sources.size)
        position = np.arange(sources.size)
        self.connect(made, sources, position, weight[changed], value.gates[changed])
        signals = value.signals.copy()
        signals[changed] = made.states
        return signals

    def _materialize_reduced(self, value: Value) -> Ints:
        """Neurons that aggregate a formula of each input."""
        aggregation = _AGGREGATIONS.get(value.formula.op)
        inner = value.formula.args[0]
        if aggregation is None or any(part.op in REDUCING for part in parts_of(inner)):
            raise ModelError(
                f"the formula {value.formula.text('v')} is no known aggregation",
                hint="Register it with neat_onnx.register_aggregation",
            )
        signals = self.materialize(replace(value, formula=inner, reduced=False))
        count, inputs = value.signals.size // signals.shape[-1], signals.shape[-1]
        made = self.add_neurons(count, aggregation=aggregation)
        position = np.repeat(np.arange(count), inputs)
        self.connect(made, signals, position, np.ones(signals.size))
        return self.materialize(Value(made.states.reshape(value.shape)))

    def materialized_from(self, origin: Ints, formula: Expression) -> Ints:
        """New signals that are `formula` of the signals `origin`."""
        position = self.formulas.setdefault(formula, len(self.formulas))
        return self.add_signals(len(origin), MATERIALIZED, origin, position)


def lift_node(ctx: LiftingContext, node: Node) -> None:
    """Lift one node by the function registered for its operator.

    Raises:
        ModelError: there is none, or the node cannot be lifted; the message names the node.
    """
    lift = LIFTS.get(node.op_type)
    if lift is None:
        ctx.fail(node, "this operator cannot be turned into neurons")
    if ctx.has_integers(node):
        ctx.integer.update(node.output)
    size = follow_batch_size(node, ctx.operands, ctx.sizes)
    if size is not None:
        ctx.fail(node, f"input '{size}' is the size of the batch, used as a number")
    try:
        lift(ctx, node)
    except NeatOnnxError:
        raise
    except (ValueError, IndexError) as error:  # numpy, on shapes that do not fit
        ctx.fail(node, f"the shapes of its inputs do not fit: {error}")
