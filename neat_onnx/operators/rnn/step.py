"""One step of a cell: the parameters of one direction, and neurons that sum parts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neat_onnx.lifting.context import Array, LiftingContext, Value
from neat_onnx.model import Node
from neat_onnx.network.activations import activation_named
from neat_onnx.network.cells import Cell, Part, part_name
from neat_onnx.network.expression import Expression
from neat_onnx.network.genes import NONE, Floats, Ints
from neat_onnx.network.runtime_formulas import writable
from neat_onnx.operators.rnn.cell_activations import CellFunction


@dataclass(frozen=True)
class Incoming:
    """Connections into the neurons of a layer: signals, the rows they lead to, weights, gates."""

    source: Ints
    row: Ints
    weight: Floats
    gate: Ints


@dataclass(frozen=True)
class Computed:
    """Parameters that are computed: the signals that give them, in the shape of the parameters."""

    signals: Ints

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the parameters."""
        return self.signals.shape

    def reshape(self, *shape: int) -> "Computed":
        """Return the parameters in another shape."""
        return Computed(self.signals.reshape(shape))

    def __getitem__(self, key: int | tuple[int, ...]) -> "Computed":
        return Computed(self.signals[key])


Parameter = Floats | Computed

_IDENTITY = activation_named("identity").expression
_HALF = 0.5
_NO_INTS = np.empty(0, np.int64)
_NOTHING = Incoming(_NO_INTS, _NO_INTS, np.empty(0), _NO_INTS)


def full(source: Ints | None, matrix: Array, gate: Ints | None = None) -> Incoming:
    """Every neuron reads all of `source` (k,), by `matrix` (neurons, k); `gate` (k,) gates them.

    None is a source of zeros.
    """
    if source is None:
        return _NOTHING
    row, column = np.nonzero(matrix)
    gates = np.full(len(row), NONE) if gate is None else gate[column]
    return Incoming(source[column], row, matrix[row, column], gates)


def each(source: Ints | None, weight: npt.ArrayLike = 1.0, gate: Ints | None = None) -> Incoming:
    """Every neuron reads its own element of `source`, gated by its own of `gate`."""
    if source is None:
        return _NOTHING
    weights = np.broadcast_to(np.asarray(weight, np.float64), source.shape)
    row = np.flatnonzero(weights)
    gates = np.full(len(row), NONE) if gate is None else gate[row]
    return Incoming(source[row], row, weights[row], gates)


@dataclass(frozen=True)
class Step:
    """The parameters of one direction of a node, with H hidden units, and neurons for its cell.

    Attributes:
        w: (gates, H, I), the weights of the input.
        r: (gates, H, H), the weights of the previous step's H.
        wb, rb: (gates, H), the biases of both.
        peephole: (3, H), the weights of the memory of an LSTM's own unit.
            Any of these may be computed.
        functions: its activations, in the operator's order.
    """

    ctx: LiftingContext
    node: Node
    w: Parameter
    r: Parameter
    wb: Parameter
    rb: Parameter
    peephole: Parameter
    functions: Sequence[CellFunction]

    def bias(self, part: Part) -> npt.ArrayLike:
        """Return the sum of the constant biases of a part's matrices, (H,); 0 without any."""
        return sum(
            (given for given in self._biases(part) if not isinstance(given, Computed)),
            start=np.zeros(()),
        )

    def computed_biases(self, part: Part) -> list[Ints]:
        """Return the signals of the biases of a part that are computed, (H,) each."""
        return [given.signals for given in self._biases(part) if isinstance(given, Computed)]

    def _biases(self, part: Part) -> list[Parameter]:
        if part.rows is None:
            return []
        both = zip((self.wb, self.rb), "WR", strict=True)
        return [b[part.rows] for b, name in both if name in part.matrices]

    def product(self, source: Ints | None, matrix: Parameter, gate: Ints | None = None) -> Incoming:
        """Connections that multiply `source` by a matrix, as `full`; it may be computed."""
        if not isinstance(matrix, Computed):
            return full(source, matrix, gate)
        if source is None:
            return _NOTHING
        if gate is not None:  # a connection has one gate: that of the matrix
            source = self.sums(each(source, gate=gate))
        row, column = (places.ravel() for places in np.indices(matrix.shape))
        return Incoming(source[column], row, np.ones(len(row)), matrix.signals.ravel())

    def scaled(self, source: Ints | None, factors: Parameter) -> Incoming:
        """Connections that multiply each element of `source` by a factor of its own."""
        if isinstance(factors, Computed):
            return each(source, gate=factors.signals)
        return each(source, factors)

    def layer(
        self,
        name: str,
        *parts: Incoming,
        bias: npt.ArrayLike = 0.0,
        activation: Expression = _IDENTITY,
    ) -> Ints:
        """Make the neurons of `sums` under a name, by which the genome finds them again."""
        signals = self.sums(*parts, bias=bias, activation=activation)
        self.ctx.operands.setdefault(part_name(self.node.output[0], name), Value(signals))
        return signals

    def sums(
        self, *parts: Incoming, bias: npt.ArrayLike = 0.0, activation: Expression = _IDENTITY
    ) -> Ints:
        """H new neurons: the activation of the sum of their parts and bias, as signals."""
        return self._activated(self._neurons(parts, bias), activation)

    def within(self, length: int, place: int) -> tuple[Ints, Ints]:
        """Gates of states, (H,): one is 1 at a place of a sequence of this length and 0 behind its
        end, the other the opposite.
        """
        inside, outside = (
            self._activated(
                self._neurons([each(np.array([length]), sign)], -sign * (place + _HALF), count=1),
                activation_named("step").expression,
            )
            for sign in (1.0, -1.0)
        )
        units = self.w.shape[1]
        return inside.repeat(units), outside.repeat(units)

    def constant(self, values: Floats) -> Ints:
        """Neurons that give `values`, whatever comes."""
        return self._activated(self._neurons([], values.ravel(), count=values.size), _IDENTITY)

    def _neurons(
        self,
        parts: Sequence[Incoming],
        bias: npt.ArrayLike,
        count: int | None = None,
    ) -> Ints:
        units = self.w.shape[1] if count is None else count
        made = self.ctx.add_neurons(units, bias=bias)
        for part in parts:
            self.ctx.connect(made, part.source, part.row, part.weight, part.gate)
        return made.signals

    def _activated(self, sums: Ints, activation: Expression) -> Ints:
        formula = writable(activation, self.ctx.data_type.dtype)
        return self.ctx.materialized_from(sums, formula)


def step_of(cell: Cell, step: Step, x: Ints, states: Mapping[str, Ints | None]) -> dict[str, Ints]:
    """Make the neurons of one step of a cell.

    Args:
        x: signals of the inputs, (I,).
        states: signals of the parts one step ago, (H,); None for zeros.

    Returns:
        The signals of every part, (H,).
    """
    found: dict[str, Ints] = {}
    for part in cell.parts:
        activation = activation_named(part.activation).expression
        if part.function is not None:
            function = step.functions[part.function]
            if part.rows is None:
                function = function._replace(clip=None)  # clip is for weighted sums
            activation = function.formula
        bias = step.bias(part)
        found[part.name] = step.layer(
            part.name, *_incoming(part, step, x, found, states), bias=bias, activation=activation
        )
    return found


def _incoming(
    part: Part,
    step: Step,
    x: Ints,
    found: Mapping[str, Ints],
    states: Mapping[str, Ints | None],
) -> Iterator[Incoming]:
    """The connections into a part."""
    if part.rows is not None and "W" in part.matrices:
        yield step.product(x, step.w[part.rows])
    if part.rows is not None and "R" in part.matrices:
        yield step.product(states["hidden"], step.r[part.rows], found.get(part.gate))
    if part.peephole is not None:
        block, delay = part.peephole
        yield step.scaled((states if delay else found)["memory"], step.peephole[block])
    yield from map(each, step.computed_biases(part))
    for link in part.links:
        source = (states if link.delay else found)[link.source]
        yield each(source, gate=found.get(link.gate))
