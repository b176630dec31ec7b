"""A network as the page draws it: where everything stands, and the facts shown for each part."""

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from neat_onnx.drawing.scene import Scene, scene
from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network

_DIGITS = 3  # of places, which are in rows


class DrawnNeuron(TypedDict):
    """A neuron as a picture shows it; its kind is input, hidden or output."""

    id: int
    name: str
    label: str
    kind: str
    family: str
    activation: str
    aggregation: str
    bias: float
    response: float
    idle: bool
    cell: bool
    column: int
    x: float
    y: float


class DrawnConnection(TypedDict):
    """A connection as a picture shows it.

    Its source, target and gater are positions in the list of neurons; `edge` is its position among
    the enabled connections, as the plan counts them, or -1. Its places are those from `first` to
    that of the next one; `twin` counts connections before it with the same ends.
    """

    source: int
    target: int
    weight: float
    enabled: bool
    delay: int
    gater: int
    edge: int
    first: int
    twin: int


class DrawnLayer(TypedDict):
    """Neurons that belong together, by their places in the network, and a name for them."""

    label: str
    neurons: list[int]


class Drawing(TypedDict):
    """A network as a picture shows it, in rows; see `neat_onnx.drawing.layout`.

    Nothing that anybody reads in: plain dictionaries, since there are thousands.
    """

    neurons: list[DrawnNeuron]
    connections: list[DrawnConnection]
    places: list[tuple[float, float]]
    layers: list[DrawnLayer]
    columns: int
    width: float
    height: float


def drawing(net: Network) -> Drawing:
    """Return the picture of `net`."""
    shown = scene(net)
    where = shown.layout
    places = zip(_rounded(where.place_x), _rounded(where.place_y), strict=True)
    return Drawing(
        neurons=_neurons(shown),
        connections=_connections(shown),
        places=list(places),
        layers=[
            DrawnLayer(label=each.label, neurons=each.neurons.ravel().tolist())
            for each in shown.layers
        ],
        columns=where.columns,
        width=round(where.width, _DIGITS),
        height=round(where.height, _DIGITS),
    )


def _rounded(values: np.ndarray) -> list[float]:
    return [float(value) for value in values.round(_DIGITS)]


def _neurons(shown: Scene) -> list[DrawnNeuron]:
    net, where = shown.net, shown.layout
    return _records(
        id=net.neurons.id.tolist(),
        name=net.neuron_names,
        label=shown.label,
        kind=shown.kind.tolist(),
        family=shown.family.tolist(),
        activation=net.activation_names.tolist(),
        aggregation=net.aggregation_names.tolist(),
        bias=net.neurons.bias.tolist(),
        response=net.neurons.response.tolist(),
        idle=shown.is_idle.tolist(),
        cell=where.is_cell.tolist(),
        column=where.column.tolist(),
        x=_rounded(where.x),
        y=_rounded(where.y),
    )


def _connections(shown: Scene) -> list[DrawnConnection]:
    genes = shown.net.connections
    return _records(
        source=genes.source.tolist(),
        target=genes.target.tolist(),
        weight=genes.weight.tolist(),
        enabled=genes.enabled.tolist(),
        delay=genes.delay.tolist(),
        gater=genes.gater.tolist(),
        edge=np.where(genes.enabled, np.cumsum(genes.enabled) - 1, NONE).tolist(),
        first=shown.layout.first[:-1].tolist(),
        twin=shown.layout.twin.tolist(),
    )


def _records(**columns: Sequence[Any]) -> list[Any]:
    """Return a dictionary for each row of columns of one length."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
