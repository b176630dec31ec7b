"""Layers: a layered network as a list of them, with dense weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import Bools, Connections, Floats, Ints
from neat_onnx.network.network import Network

STANDARD = "The standard dialect, which is the default, writes every network"


@dataclass(frozen=True, eq=False)
class Layer:
    """A hidden or output layer of r neurons, which read the c neurons of the layer before it.

    Attributes:
        index: 1 for the first hidden layer.
        is_output: whether it is the last layer.
        before: positions of the neurons of the layer before it, shape (c,).
        neurons: positions of its own neurons, shape (r,).
        connected: whether there is a connection, enabled or not, shape (r, c).
        weights: weight of the first connection with these ends, 0 without one, shape (r, c).
        loops: whether each neuron has a self-connection, shape (r,).
        loop_weights: its weight, or 0, shape (r,).
        biases: shape (r,).
    """

    index: int
    is_output: bool
    before: Ints
    neurons: Ints
    connected: Bools
    weights: Floats
    loops: Bools
    loop_weights: Floats
    biases: Floats

    @property
    def size(self) -> int:
        """The number of its neurons."""
        return len(self.neurons)


def firsts(genes: Connections) -> Bools:
    """Return which connections are the first between their two ends, shape (m,)."""
    ends = genes.target * (1 + genes.source.max(initial=0)) + genes.source
    _, positions = np.unique(ends, return_index=True)
    first = np.zeros(len(genes), np.bool_)
    first[positions] = True
    return first


def layers_of(net: Network) -> list[Layer]:
    """Return the layers after the inputs; the last one holds the outputs.

    A hidden neuron stands in the layer after the one that all of its connections, enabled or not,
    come from. Within a layer, neurons keep the order of the network.

    Raises:
        NetworkError: the network is not layered; names a neuron that reads beyond the layer
            before it.
    """
    _check_ports(net)
    genes = net.connections.take(firsts(net.connections))
    if np.all(genes.source == genes.target):
        raise NetworkError("the network has no connections", hint=STANDARD)
    groups = [net.input_neurons, *_hidden_layers(net, genes), net.output_neurons]
    return [
        _layer(net, genes, index, before, neurons, is_output=index == len(groups) - 1)
        for index, (before, neurons) in enumerate(pairwise(groups), 1)
    ]


def _check_ports(net: Network) -> None:
    for what, ports in (("inputs", net.inputs), ("outputs", net.outputs)):
        if len(ports) != 1:
            raise NetworkError(
                f"the neataptic dialect has one port of {what}, the network has {len(ports)}",
                where=what,
                hint=STANDARD,
            )
    ends, counts = np.unique(
        np.concatenate([net.input_neurons, net.output_neurons]), return_counts=True
    )
    if np.any(counts > 1):
        raise NetworkError(
            "a neuron is an output and an input, or several outputs",
            where=net.label(int(ends[np.argmax(counts > 1)])),
            hint=STANDARD,
        )


def _hidden_layers(net: Network, genes: Connections) -> Iterator[Ints]:
    others = genes.take(genes.source != genes.target)
    previous = net.is_input
    waiting = ~previous
    waiting[net.output_neurons] = False
    while np.any(waiting):
        strangers = ~previous[others.source] & waiting[others.target]
        current = waiting.copy()
        current[others.target[strangers]] = False
        if not np.any(current):
            _refuse(net, others.take(strangers))
        yield np.flatnonzero(current)
        previous, waiting = current, waiting & ~current


def _refuse(net: Network, strangers: Connections) -> None:
    source, target = int(strangers.source[0]), int(strangers.target[0])
    raise NetworkError(
        f"the network is not layered: {net.label(target)} reads {net.label(source)}, which is "
        "not in the layer before it",
        where=net.label(target),
        hint=STANDARD,
    )


def _layer(
    net: Network, genes: Connections, index: int, before: Ints, neurons: Ints, *, is_output: bool
) -> Layer:
    row, column = np.full(len(net), -1), np.full(len(net), -1)
    row[neurons], column[before] = np.arange(len(neurons)), np.arange(len(before))
    inside = (row[genes.target] >= 0) & (column[genes.source] >= 0)
    ends = row[genes.target[inside]], column[genes.source[inside]]
    weights = np.zeros((len(neurons), len(before)))
    connected = np.zeros(weights.shape, np.bool_)
    weights[ends], connected[ends] = genes.weight[inside], True
    looping = (row[genes.target] >= 0) & (genes.source == genes.target)
    loops, loop_weights = np.zeros(len(neurons), np.bool_), np.zeros(len(neurons))
    at = row[genes.target[looping]]
    loops[at], loop_weights[at] = True, genes.weight[looping]
    biases = net.neurons.bias[neurons]
    return Layer(index, is_output, before, neurons, connected, weights, loops, loop_weights, biases)
