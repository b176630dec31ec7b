"""What a handler sees when it lifts a node: neurons where the graph has tensors.

A tensor is an array of *signals*, shaped like it (the batch axis has length 1). A signal is what an
input neuron gives, the pre-activation of a neuron that was lifted (a *state*), an activation of one
of these (*settled*), or what another signal was one step ago (a *register*).

What an elementwise node does to a tensor stays a formula until something else reads the result:
then it is settled, and an activation is recognised. So rearranging a tensor costs nothing, and a
neuron is never made for a step inside a formula.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import ModelError, NeatOnnxError
from neat_onnx.model import DataType, Graph, Model, Node
from neat_onnx.network.expression import VARIABLE, Expression, number
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.network.spatial import SpatialBlock

Array = npt.NDArray[Any]

_MOST_NEURONS = 1 << 22
INPUT, STATE, SETTLED, REGISTER, DROPPED = range(5)


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of the graph, in terms of signals.

    Attributes:
        signals: what its elements are made of; if `reduced`, one more axis at the end, over which
            the formula reduces.
        formula: each element as an expression of its signal, or of its signals times their weights.
        weight: multiplies each signal before the formula; None for 1.
        gate: signals that multiply them as well; None for 1.
        reduced: the formula has reduced the last axis of `signals`.
    """

    signals: Ints
    formula: Expression = VARIABLE
    weight: Floats | None = None
    reduced: bool = False
    gate: Ints | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.signals.shape[:-1] if self.reduced else self.signals.shape

    @property
    def plain(self) -> bool:
        """It is its signals, and nothing was done to them."""
        return self.ungated and self.gate is None

    @property
    def elementwise(self) -> bool:
        """It is a formula of each of its signals alone."""
        return self.weight is None and self.gate is None and not self.reduced

    @property
    def ungated(self) -> bool:
        """It is its signals, and nothing was done to them but gating."""
        return self.formula == VARIABLE and self.weight is None and not self.reduced

    def rearranged(self, change: Callable[[Array], Array]) -> Value:
        """The value with `change` applied to the array of its elements (not to a reduced axis)."""
        order = change(np.arange(math.prod(self.shape)).reshape(self.shape))

        def moved(values: Array) -> Array:
            return values.reshape(-1, *values.shape[len(self.shape) :])[order]

        return replace(
            self,
            signals=moved(self.signals),
            weight=None if self.weight is None else moved(self.weight),
            gate=None if self.gate is None else moved(self.gate),
        )


Operand = Value | Array
Lift = Callable[["LiftingContext", Any], None]

LIFTS: dict[str, Lift] = {}
Operator = TypeVar("Operator", bound=Lift)


def lifts(*operators: type[Node]) -> Callable[[Operator], Operator]:
    """Register the decorated function as what lifts nodes of these operators.

    Raises:
        ModelError: one of them has one already.
    """

    def register(function: Operator) -> Operator:
        for operator in operators:
            if operator.__name__ in LIFTS:
                raise ModelError(f"two functions lift {operator.__name__}")
            LIFTS[operator.__name__] = function
        return function

    return register


@dataclass(eq=False)
class Layer:
    """Neurons that were made together.

    Attributes:
        states: their signals, consecutive.
        tensor: the tensor that is exactly them, while nothing else has read it.
        spatial: they slide a window; that would be lost if they were merged with others.
    """

    states: Ints
    aggregation: list[str]
    bias: Floats
    response: Floats
    tensor: str = ""
    spatial: bool = False


@dataclass(frozen=True)
class Links:
    """Connections in the making: signals to neurons (by their state signals), with weights, and the
    signals that gate them (-1 for none).
    """

    source: Ints
    target: Ints
    weight: Floats
    gate: Ints


@dataclass
class LiftingContext:
    """The state of one import.

    Attributes:
        model: what is imported.
        features_only: every axis of the inputs is features; no batch, no time.
        operands: every tensor met so far, by name: constants as arrays, others as values.
        layers, links: the neurons and connections made so far.
        blocks: what neurons slide a window; they go by their states, and what they read by signals.
        kind, origin, formula_of: for each signal, what it is, what it was settled from, and the
            position of its formula in `formulas`.
        next, initial: for a register, the signal it takes at the end of a step, and what it holds
            before the first if not zero.
        ended: names of tensors that have lost the time axis, as the end of a sequence has.
    """

    model: Model
    features_only: bool = False
    operands: dict[str, Operand] = field(default_factory=dict)
    layers: list[Layer] = field(default_factory=list)
    links: list[Links] = field(default_factory=list)
    blocks: list[SpatialBlock] = field(default_factory=list)
    formulas: list[Expression] = field(default_factory=list)
    next: dict[int, int] = field(default_factory=dict)
    initial: dict[int, float] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.kind = np.empty(0, np.int64)
        self.origin = np.empty(0, np.int64)
        self.formula_of = np.empty(0, np.int64)
        self.settled: dict[int, Ints] = {}
        self._kept: list[Value] = []
        self._readers = Counter(_names_read(self.model.graph))

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

    def bind(self, node: Node, *operands: Operand) -> None:
        """Say what the outputs of `node` are."""
        self.operands.update(zip(node.output, operands, strict=False))

    def fail(self, node: Node, message: str, hint: str | None = None) -> NoReturn:
        """Raise ModelError about `node`."""
        raise ModelError(f"node {node.label}: {message}", where=self.path(node), hint=hint)

    def path(self, node: Node) -> str | None:
        position = next((k for k, n in enumerate(self.model.graph.node) if n is node), None)
        return None if position is None else f"graph.node[{position}]"

    def check_size(self, node: Node, count: int) -> None:
        """Refuse to make more than so many neurons for one node."""
        if count > _MOST_NEURONS:
            self.fail(node, f"it has {count} elements, more than {_MOST_NEURONS}")

    # --- neurons ---------------------------------------------------------------------------------

    def add_signals(
        self, count: int, kind: int, origin: npt.ArrayLike = -1, formula: int = -1
    ) -> Ints:
        """New signals, by number."""
        start = len(self.kind)
        self.kind = np.concatenate([self.kind, np.full(count, kind)])
        self.origin = np.concatenate([self.origin, np.broadcast_to(origin, count)])
        self.formula_of = np.concatenate([self.formula_of, np.full(count, formula)])
        return np.arange(start, start + count)

    def add_neurons(
        self,
        node: Node,
        count: int,
        *,
        aggregation: str = "sum",
        bias: npt.ArrayLike = 0.0,
        response: npt.ArrayLike = 1.0,
    ) -> Layer:
        """Make neurons for `node`'s first output; connect their inputs with `connect`."""
        layer = Layer(
            states=self.add_signals(count, STATE),
            aggregation=[aggregation] * count,
            bias=np.array(np.broadcast_to(bias, count), np.float64),
            response=np.array(np.broadcast_to(response, count), np.float64),
            tensor=node.output[0],
        )
        self.layers.append(layer)
        return layer

    def connect(self, source: Ints, target: Ints, weight: Floats, gate: Ints | None = None) -> None:
        """Connect signals to neurons, which go by their states; arrays of one length."""
        ungated = np.full(source.size, -1)
        self.links.append(
            Links(
                source.ravel(),
                target.ravel(),
                weight.ravel(),
                ungated if gate is None else gate.ravel(),
            )
        )

    def merge(self, layer: Layer, other: Layer) -> None:
        """Let `layer` compute the sum of both; the neurons of `other` are no longer."""
        shift = layer.states[0] - other.states[0]
        inside = range(int(other.states[0]), int(other.states[-1]) + 1)
        self.links = [
            replace(link, target=link.target + shift)
            if link.target.size and int(link.target[0]) in inside
            else link
            for link in self.links
        ]
        layer.bias = np.where(layer.bias == 0, other.bias, layer.bias + other.bias)
        self.layers.remove(other)
        self.kind[other.states] = DROPPED

    def layer_of(self, node: Node, position: int) -> Layer | None:
        """The layer that is exactly the tensor at `position`, if `node` alone reads it.

        Then a constant that `node` adds or multiplies can become the neurons' bias or response.
        """
        name = node.input[position]
        if self._readers[name] != 1:
            return None
        return next((layer for layer in reversed(self.layers) if layer.tensor == name), None)

    def feed(self, previous: str, following: str) -> None:
        """Let the registers of the tensor `previous` take what the tensor `following` holds.

        Raises:
            ModelError: their shapes differ.
        """
        held, value = self.operands.get(previous), self.operands.get(following)
        if not isinstance(held, Value) or not isinstance(value, Value) or held.shape != value.shape:
            raise ModelError(
                f"output '{following}' does not fit the state '{previous}' that it feeds"
            )
        signals = value.signals if value.plain else self.settle(value)
        self.next.update(zip(held.signals.ravel().tolist(), signals.ravel().tolist(), strict=True))

    def settle(self, value: Value) -> Ints:
        """Signals that carry the elements of `value`, shaped like it; truth values as 1 and 0."""
        if value.plain and not np.any(self.kind[value.signals] == STATE):
            return value.signals
        if id(value) not in self.settled:
            formula = value.formula
            numbers = replace(value, formula=number(formula)) if formula.is_truth else value
            self.settled[id(value)] = self._settle(numbers)
            self._kept.append(value)  # so that no other takes its id
        return self.settled[id(value)]

    def _settle(self, value: Value) -> Ints:
        if value.reduced:
            raise ModelError(
                f"the formula {value.formula.text('v')} is no known aggregation",
                hint="Register it with neat_onnx.register_aggregation",
            )
        signals = value.signals
        if value.weight is not None or value.gate is not None:
            layer = Layer(
                states=self.add_signals(signals.size, STATE),
                aggregation=["sum"] * signals.size,
                bias=np.zeros(signals.size),
                response=np.ones(signals.size),
            )
            self.layers.append(layer)
            weight = np.ones(signals.shape) if value.weight is None else value.weight
            self.connect(self.settle(Value(signals)), layer.states, weight, value.gate)
            signals = layer.states.reshape(signals.shape)
        if value.formula == VARIABLE:
            fresh = self.kind[signals] == STATE
            result = signals.copy()
            result[fresh] = self.settled_from(signals[fresh], VARIABLE)
            return result
        return self.settled_from(signals.ravel(), value.formula).reshape(signals.shape)

    def settled_from(self, origin: Ints, formula: Expression) -> Ints:
        """New signals that are `formula` of the signals `origin`."""
        if formula not in self.formulas:
            self.formulas.append(formula)
        return self.add_signals(len(origin), SETTLED, origin, self.formulas.index(formula))


def _names_read(graph: Graph) -> Iterator[str]:
    """Every name that a node or an output reads, in the graphs inside of nodes too."""
    for node in graph.node:
        yield from node.input
        for value in vars(node.attributes).values():
            if isinstance(value, Graph):
                yield from _names_read(value)
    yield from (output.name for output in graph.outputs)


def lift_node(ctx: LiftingContext, node: Node) -> None:
    """Lift one node by the function registered for its operator.

    Raises:
        ModelError: there is none, or the node cannot be lifted; the message names the node.
    """
    lift = LIFTS.get(node.op_type)
    if lift is None:
        ctx.fail(node, "this operator cannot be turned into neurons")
    try:
        lift(ctx, node)
    except NeatOnnxError:
        raise
    except (ValueError, IndexError) as error:  # numpy, on shapes that do not fit
        ctx.fail(node, f"the shapes of its inputs do not fit: {error}")
