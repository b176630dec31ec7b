"""A network as the page draws it: neurons and connections with the facts shown for each."""

from typing import TypedDict

import numpy as np

from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule


class DrawnNeuron(TypedDict):
    """A neuron as a picture shows it; its kind is input, hidden or output."""

    id: int
    name: str
    kind: str
    level: int
    activation: str
    aggregation: str
    bias: float
    response: float


class DrawnConnection(TypedDict):
    """A connection as a picture shows it.

    Its source, target and gater are positions in the list of neurons; `edge` is its position among
    the enabled connections, as the plan counts them, or -1.
    """

    source: int
    target: int
    weight: float
    enabled: bool
    delay: int
    gater: int
    edge: int


class Drawing(TypedDict):
    """A network as a picture shows it; of a large one, only the heaviest connections.

    Nothing that anybody reads in: plain dictionaries, since there are thousands.
    """

    neurons: list[DrawnNeuron]
    connections: list[DrawnConnection]
    omitted: int


def drawing(net: Network, most: int = 5000) -> Drawing:
    """Return the picture of `net`, with at most `most` connections, the heaviest."""
    heaviest = np.argsort(-np.abs(net.connections.weight), kind="stable")[:most]
    connections = _connections(net, np.sort(heaviest))
    return Drawing(
        neurons=_neurons(net),
        connections=connections,
        omitted=len(net.connections) - len(connections),
    )


def _neurons(net: Network) -> list[DrawnNeuron]:
    kinds = np.full(len(net), "hidden", object)
    kinds[net.output_neurons] = "output"
    kinds[net.input_neurons] = "input"
    columns = zip(
        net.neurons.id.tolist(),
        net.neuron_names,
        kinds.tolist(),
        schedule(net).level.tolist(),
        net.activation_names.tolist(),
        net.aggregation_names.tolist(),
        net.neurons.bias.tolist(),
        net.neurons.response.tolist(),
        strict=True,
    )
    return [
        DrawnNeuron(
            id=id,
            name=name,
            kind=kind,
            level=level,
            activation=activation,
            aggregation=aggregation,
            bias=bias,
            response=response,
        )
        for id, name, kind, level, activation, aggregation, bias, response in columns
    ]


def _connections(net: Network, which: np.ndarray) -> list[DrawnConnection]:
    genes = net.connections.take(which)
    enabled = net.connections.enabled
    edge = np.where(enabled, np.cumsum(enabled) - 1, NONE)[which]
    columns = zip(
        genes.source.tolist(),
        genes.target.tolist(),
        genes.weight.tolist(),
        genes.enabled.tolist(),
        genes.delay.tolist(),
        genes.gater.tolist(),
        edge.tolist(),
        strict=True,
    )
    return [
        DrawnConnection(
            source=source,
            target=target,
            weight=weight,
            enabled=enabled,
            delay=delay,
            gater=gater,
            edge=edge,
        )
        for source, target, weight, enabled, delay, gater, edge in columns
    ]
