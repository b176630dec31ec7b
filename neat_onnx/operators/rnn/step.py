"""One step of a cell: the parameters of one direction, and neurons that sum parts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

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


_IDENTITY = activation_named("identity").expression
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
        functions: its activations, in the operator's order.
    """

    ctx: LiftingContext
    node: Node
    w: Floats
    r: Floats
    wb: Floats
    rb: Floats
    peephole: Floats
    functions: Sequence[CellFunction]

    def bias(self, part: Part) -> npt.ArrayLike:
        """Return the sum of the biases of a part's matrices, (H,); 0 for a part without any."""
        biases = [self.wb, self.rb]
        given = [
            b[part.rows] for b, name in zip(biases, "WR", strict=True) if name in part.matrices
        ]
        return reduce(np.add, given) if given else 0.0

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
        yield full(x, step.w[part.rows])
    if part.rows is not None and "R" in part.matrices:
        yield full(states["hidden"], step.r[part.rows], found.get(part.gate))
    if part.peephole is not None:
        block, delay = part.peephole
        yield each((states if delay else found)["memory"], step.peephole[block])
    for link in part.links:
        source = (states if link.delay else found)[link.source]
        yield each(source, gate=found.get(link.gate))
