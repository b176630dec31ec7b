"""The plan of generated code: the values of a step in one array, and the loops that fill it.

The array holds the inputs, then the activation of every other neuron in topological order, then
the pre-activations that some connection reads, then the delay registers:

    inputs | activations, level by level | pre-activations read | registers

Neurons of one level that share aggregation and activation are consecutive, so that one loop
computes them.
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
class Group:
    """Consecutive neurons that one loop computes.

    Attributes:
        first, count: their rows.
        aggregation: how they make one number of their weighted inputs.
        fan_in: the number of inputs of each; None for sums and means, where it may differ unless
            it is 0.
        activation: of all of them.
        scaled: whether a response differs from 1.
        z_shift: from a neuron's row to that of its pre-activation; None if none is read.
    """

    first: int
    count: int
    aggregation: Aggregation
    fan_in: int | None
    activation: Activation
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
        source, weight, gain: the connections; a gain of NONE is 1.
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
    level, signals, fan_in, genes = schedule(net).level, signals_of(net), net.fan_in, net.neurons
    is_linear, counted = net.kinds[:, 0] == NONE, net.kinds[:, 1]
    read = signals.pre_activation != NONE
    key = np.stack([level, genes.aggregation, counted, genes.activation, read], axis=1)
    order = np.flatnonzero(~net.is_input)
    order = order[np.lexsort(key[order].T[::-1])]
    row = _rows(net, signals, order)
    changes = np.flatnonzero(np.any(key[order][1:] != key[order][:-1], axis=1)) + 1
    groups: list[Group] = []
    for neurons in np.split(order, changes) if len(order) else []:
        lead = int(neurons[0])
        z, first, count = signals.pre_activation[lead], int(row[lead]), int(fan_in[lead])
        groups.append(
            Group(
                first=first,
                count=len(neurons),
                aggregation=aggregation_named(net.aggregation_names[lead]),
                fan_in=None if is_linear[lead] and count else count,
                activation=activation_named(net.activation_names[lead]),
                scaled=bool(np.any(genes.response[neurons] != 1.0)),
                z_shift=None if z == NONE else int(row[z]) - first,
            )
        )
    _, edges = net.edges_into(order)
    gain, registers = signals.gain[edges], signals.registers
    return Plan(
        inputs=tuple((port, row[port.neurons]) for port in net.inputs),
        outputs=tuple((port, row[port.neurons]) for port in net.outputs),
        rows=signals.count,
        groups=tuple(groups),
        bias=genes.bias[order],
        response=genes.response[order],
        start=np.concatenate([[0], np.cumsum(fan_in[order])]).astype(np.int64),
        source=row[signals.source[edges]],
        weight=net.live.weight[edges],
        gain=np.where(gain == NONE, NONE, row[gain]),
        registers=(row[registers.signal], row[registers.origin], registers.initial),
    )


def _rows(net: Network, signals: Signals, order: Ints) -> Ints:
    """Return the row of each signal."""
    row = np.empty(signals.count, np.int64)
    inputs = len(net.input_neurons)
    row[net.input_neurons] = np.arange(inputs)
    row[order] = np.arange(inputs, len(net))
    pre_activations = signals.pre_activation[order]
    read = pre_activations[pre_activations != NONE]
    row[read] = len(net) + np.arange(len(read))
    registers = signals.registers
    row[registers.signal] = registers.signal
    return row
