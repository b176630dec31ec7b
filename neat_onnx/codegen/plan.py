"""The plan of generated code: the values of a step in one array, and the loops that fill it.

The array holds the inputs, then the activation of every other neuron in topological order, then
the pre-activations that some connection reads, then the delay registers:

    inputs | activations, level by level | pre-activations read | registers

Neurons of one level that share aggregation and activation are consecutive, so that one loop
computes them. Their weights are a matrix where all of them read the same consecutive rows, and
lists of connections elsewhere.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.network.activations import Activation, activation_named
from neat_onnx.network.aggregations import Aggregation, aggregation_named
from neat_onnx.network.genes import NONE, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.schedule import schedule
from neat_onnx.network.signals import Signals, signals_of


@dataclass(frozen=True)
class Matrix:
    """Weights of a group whose neurons all read the same consecutive rows.

    Attributes:
        offset: position of the first weight in `Plan.dense_weights`, by neuron, then by source.
        source: the first row read.
        width: how many rows are read.
    """

    offset: int
    source: int
    width: int


@dataclass(frozen=True)
class Group:
    """Consecutive neurons that one loop computes.

    Attributes:
        level: their topological level, from 1.
        first, count: their rows.
        aggregation: how they make one number of their weighted inputs.
        fan_in: the number of inputs of each; None for sums and means, where it may differ unless
            it is 0.
        activation: of all of them.
        matrix: their weights, if these form one; else connections of the plan.
        gated: whether a connection into them has a gater.
        scaled: whether a response differs from 1.
        z_shift: from a neuron's row to that of its pre-activation; None if none is read.
    """

    level: int
    first: int
    count: int
    aggregation: Aggregation
    fan_in: int | None
    activation: Activation
    matrix: Matrix | None
    gated: bool
    scaled: bool
    z_shift: int | None


@dataclass(frozen=True)
class Plan:
    """Everything that generated code computes. Rows are positions in the array of values.

    Attributes:
        inputs, outputs: the ports, each with the rows of its neurons.
        rows: the length of the array.
        groups: in the order of computation.
        bias, response: of each neuron that is no input, in row order.
        start: (neurons + 1,): where each neuron's connections begin in the lists that follow.
        source, weight, gain: the connections outside matrices; a gain of NONE is 1.
        dense_weights: the weights of all matrices.
        registers: rows, the row that each takes over after a step, and their initial values. A
            later register never feeds an earlier one.
    """

    inputs: tuple[tuple[Port, Ints], ...]
    outputs: tuple[tuple[Port, Ints], ...]
    rows: int
    groups: tuple[Group, ...]
    bias: Floats
    response: Floats
    start: Ints
    source: Ints
    weight: Floats
    gain: Ints
    dense_weights: Floats
    registers: tuple[Ints, Ints, Floats]

    @property
    def input_count(self) -> int:
        """The number of input neurons, which is the row of the first other neuron."""
        return sum(len(rows) for _, rows in self.inputs)

    @property
    def has_memory(self) -> bool:
        """Whether a step reads registers, which the steps before it wrote."""
        return bool(len(self.registers[0]))


def plan_of(net: Network) -> Plan:
    """Plan the computation of one step of a network.

    Raises:
        NetworkError: connections without delay form a cycle.
    """
    return _Planner(net).plan()


class _Planner:
    """Numbers the rows, then makes the groups."""

    def __init__(self, net: Network) -> None:
        self._net = net
        self._level = schedule(net).level
        self._signals: Signals = signals_of(net)
        genes = net.neurons
        self._fan_in = net.fan_in
        linear = np.array([aggregation_named(name).linear for name in net.aggregations])
        self._linear = linear[genes.aggregation]
        read = self._signals.pre_activation != NONE
        key = np.stack(
            [
                self._level,
                genes.aggregation,
                np.where(self._linear, np.minimum(self._fan_in, 1), self._fan_in),
                genes.activation,
                read,
            ],
            axis=1,
        )
        inputs = net.input_neurons
        others = np.flatnonzero(~net.is_input)
        others = others[np.lexsort(key[others].T[::-1])]
        self._order, self._key = others, key[others]
        self._row = self._rows(inputs, others)
        self._source = self._row[self._signals.source]
        gain = self._signals.gain
        self._gain = np.where(gain == NONE, NONE, self._row[gain])
        self._dense: list[Floats] = []
        self._edges: list[Ints] = []

    def _rows(self, inputs: Ints, others: Ints) -> Ints:
        """Return the row of each signal."""
        row = np.empty(self._signals.count, np.int64)
        row[inputs] = np.arange(len(inputs))
        row[others] = np.arange(len(inputs), len(self._net))
        pre_activations = self._signals.pre_activation[others]
        read = pre_activations[pre_activations != NONE]
        row[read] = len(self._net) + np.arange(len(read))
        registers = self._signals.registers
        row[registers.signal] = registers.signal
        return row

    def plan(self) -> Plan:
        net, order, signals = self._net, self._order, self._signals
        changes = np.any(self._key[1:] != self._key[:-1], axis=1)
        parts = np.split(order, np.flatnonzero(changes) + 1) if len(order) else []
        groups = tuple(self._group(part) for part in parts)
        edges = np.concatenate([np.empty(0, np.int64), *self._edges])
        in_lists = np.bincount(net.live.target[edges], minlength=len(net))[order]
        registers = signals.registers
        return Plan(
            inputs=tuple((port, self._row[port.neurons]) for port in net.inputs),
            outputs=tuple((port, self._row[port.neurons]) for port in net.outputs),
            rows=signals.count,
            groups=groups,
            bias=net.neurons.bias[order],
            response=net.neurons.response[order],
            start=np.concatenate([[0], np.cumsum(in_lists)]).astype(np.int64),
            source=self._source[edges],
            weight=net.live.weight[edges],
            gain=self._gain[edges],
            dense_weights=np.concatenate([np.empty(0), *self._dense]),
            registers=(
                self._row[registers.signal],
                self._row[registers.origin],
                registers.initial,
            ),
        )

    def _group(self, neurons: Ints) -> Group:
        net = self._net
        counts = self._fan_in[neurons]
        _, edges = net.edges_into(neurons)
        lead = int(neurons[0])
        z = self._signals.pre_activation[lead]
        linear = bool(self._linear[lead])
        matrix = self._matrix(edges, counts) if linear else None
        if matrix is None:
            self._edges.append(edges)
        else:
            self._dense.append(net.live.weight[edges])
        row = int(self._row[lead])
        return Group(
            level=int(self._level[lead]),
            first=row,
            count=len(neurons),
            aggregation=aggregation_named(net.aggregation_names[lead]),
            fan_in=int(counts[0]) if not linear or not counts[0] else None,
            activation=activation_named(net.activation_names[lead]),
            matrix=matrix,
            gated=bool(np.any(self._gain[edges] != NONE)),
            scaled=bool(np.any(net.neurons.response[neurons] != 1.0)),
            z_shift=None if z == NONE else int(self._row[z]) - row,
        )

    def _matrix(self, edges: Ints, counts: Ints) -> Matrix | None:
        """The matrix of connections into neurons with these fan-ins, if it is worth one."""
        width = int(counts[0])
        if len(counts) < 2 or width < 2 or np.any(counts != width):
            return None
        source = self._source[edges].reshape(len(counts), width)
        consecutive = source[0, 0] + np.arange(width)
        if np.any(source != consecutive) or np.any(self._gain[edges] != NONE):
            return None
        return Matrix(sum(map(len, self._dense)), int(source[0, 0]), width)
