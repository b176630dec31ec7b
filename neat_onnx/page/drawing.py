"""A network as the page draws it: neurons and connections with the facts shown for each."""

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule
from neat_onnx.page.layers import DrawnLayer, drawn_layers

_MAX_CONNECTIONS = 5000  # in the picture of a large network


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
    layers: list[DrawnLayer]
    omitted: int


def drawing(net: Network, levels: Schedule) -> Drawing:
    """Return the picture of `net`, on its levels, with its heaviest connections."""
    heaviest = np.argsort(-np.abs(net.connections.weight), kind="stable")[:_MAX_CONNECTIONS]
    connections = _connections(net, np.sort(heaviest))
    return Drawing(
        neurons=_neurons(net, levels),
        connections=connections,
        layers=drawn_layers(net, levels),
        omitted=len(net.connections) - len(connections),
    )


def _neurons(net: Network, levels: Schedule) -> list[DrawnNeuron]:
    kinds = np.full(len(net), "hidden", object)
    kinds[net.output_neurons] = "output"
    kinds[net.input_neurons] = "input"
    return _records(
        id=net.neurons.id.tolist(),
        name=net.neuron_names,
        kind=kinds.tolist(),
        level=levels.level.tolist(),
        activation=net.activation_names.tolist(),
        aggregation=net.aggregation_names.tolist(),
        bias=net.neurons.bias.tolist(),
        response=net.neurons.response.tolist(),
    )


def _connections(net: Network, which: np.ndarray) -> list[DrawnConnection]:
    genes = net.connections.take(which)
    enabled = net.connections.enabled
    edge = np.where(enabled, np.cumsum(enabled) - 1, NONE)[which]
    return _records(
        source=genes.source.tolist(),
        target=genes.target.tolist(),
        weight=genes.weight.tolist(),
        enabled=genes.enabled.tolist(),
        delay=genes.delay.tolist(),
        gater=genes.gater.tolist(),
        edge=edge.tolist(),
    )


def _records(**columns: Sequence[Any]) -> list[Any]:
    """Return a dictionary for each row of columns of one length."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
