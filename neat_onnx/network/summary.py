"""What a network is, in a few numbers: for people, and for the page."""

from collections import Counter

import numpy as np
from pydantic import BaseModel, Field

from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule


class Summary(BaseModel):
    """What a network is."""

    library: str = Field(description="What wrote it.")
    inputs: int
    outputs: int
    neurons: int = Field(description="All of them, inputs included.")
    hidden: int = Field(description="Those that are neither input nor output.")
    connections: int = Field(description="Enabled ones.")
    disabled: int = Field(description="Connections that are genes only.")
    gated: int = Field(description="Enabled connections with a gater.")
    delayed: int = Field(description="Enabled connections that read an earlier step.")
    levels: int = Field(description="Topological levels after the inputs.")
    activations: dict[str, int] = Field(description="How many neurons use each, inputs left out.")
    aggregations: dict[str, int]
    windows: dict[str, int] = Field(description="Layers that slide a window, by their operator.")
    has_memory: bool = Field(description="Whether one step depends on the steps before it.")


class DrawnNeuron(BaseModel):
    """A neuron as a picture shows it."""

    id: int
    name: str
    kind: str = Field(description="input, hidden or output.")
    level: int
    activation: str
    aggregation: str


class DrawnConnection(BaseModel):
    """A connection as a picture shows it; source and target are positions in the neuron list."""

    source: int
    target: int
    weight: float
    enabled: bool
    delay: int


class Drawing(BaseModel):
    """A network as a picture shows it; of a large one, only the heaviest connections."""

    neurons: list[DrawnNeuron]
    connections: list[DrawnConnection]
    omitted: int = Field(description="Connections left out.")


def summary(net: Network) -> Summary:
    """What `net` is.

    Raises:
        NetworkError: connections without delay form a cycle.
    """
    live = net.live
    computing = ~net.is_input
    hidden = computing.copy()
    hidden[net.output_neurons] = False
    return Summary(
        library=net.library,
        inputs=len(net.input_neurons),
        outputs=len(net.output_neurons),
        neurons=len(net),
        hidden=int(hidden.sum()),
        connections=len(live),
        disabled=len(net.connections) - len(live),
        gated=int(np.sum(live.gater != NONE)),
        delayed=int(np.sum(live.delay > 0)),
        levels=schedule(net).depth,
        activations=_counted(net.activation_names[computing].tolist()),
        aggregations=_counted(net.aggregation_names[computing].tolist()),
        windows=_counted([block.kind for block in net.blocks]),
        has_memory=net.has_memory,
    )


def drawing(net: Network, most: int = 5000) -> Drawing:
    """The picture of `net`, with at most `most` connections, the heaviest."""
    kinds = np.full(len(net), "hidden", object)
    kinds[net.output_neurons] = "output"
    kinds[net.input_neurons] = "input"
    level = schedule(net).level
    genes = net.connections
    shown = np.sort(np.argsort(-np.abs(genes.weight), kind="stable")[:most])
    return Drawing(
        neurons=[
            DrawnNeuron(
                id=int(net.neurons.id[j]),
                name=net.neuron_names[j],
                kind=kinds[j],
                level=int(level[j]),
                activation=net.activation_names[j],
                aggregation=net.aggregation_names[j],
            )
            for j in range(len(net))
        ],
        connections=[
            DrawnConnection(
                source=int(genes.source[e]),
                target=int(genes.target[e]),
                weight=float(genes.weight[e]),
                enabled=bool(genes.enabled[e]),
                delay=int(genes.delay[e]),
            )
            for e in shown.tolist()
        ],
        omitted=len(genes) - len(shown),
    )


def _counted(names: list[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))
