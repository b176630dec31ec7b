"""Read and write synaptic's JSON: neurons in layers, evaluated layer by layer, in list order.

`Network.fromJSON` gives every gain the value 1, which a gater changes when it is first computed,
and every self-connection the weight 1. A second connection between the same neurons is added to
the first one where these have one in the other direction already; else it replaces its weight.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.list_order import ListConnection, ListNetwork, ListNode
from neat_onnx.libraries.list_writer import ListLibrary, write_list
from neat_onnx.libraries.names import reversed_names
from neat_onnx.network.network import Network
from neat_onnx.parsing import ForeignDocument, parse

ACTIVATION_NAMES = {
    "LOGISTIC": "sigmoid",
    "TANH": "tanh",
    "IDENTITY": "identity",
    "HLIM": "step",
    "RELU": "relu",
}


class _Neuron(ListNode):
    layer: Literal["input", "output"] | int
    squash: Annotated[str, BeforeValidator(lambda name: name or "LOGISTIC")] = "LOGISTIC"
    state: float = 0.0
    activation: float = 0.0


class _Document(ForeignDocument):
    neurons: list[_Neuron]
    connections: list[ListConnection] = Field(default_factory=list)


def read(document: Mapping[str, Any], _: ReadOptions) -> Network:
    """Return the network that `Network.fromJSON(document)` evaluates, from the states it holds."""
    parsed = parse(_Document, document, NetworkError, strict=False)
    layers = [neuron.layer for neuron in parsed.neurons]
    return ListNetwork(
        library="synaptic",
        names=ACTIVATION_NAMES,
        nodes=parsed.neurons,
        kinds=[layer if isinstance(layer, str) else "hidden" for layer in layers],
        connections=[_with_unit_loop(gene) for gene in _projected(parsed.connections)],
        order=sorted(range(len(layers)), key=lambda at: _rank(layers[at])),
        initial_gain=1.0,
    ).compiled()


def _rank(layer: str | int) -> tuple[int, int]:
    if isinstance(layer, int):
        return 1, layer
    return (0, 0) if layer == "input" else (2, 0)


def _projected(genes: Sequence[ListConnection]) -> list[ListConnection]:
    """The connections that `Neuron.project` makes of these, one after the other."""
    made: list[ListConnection] = []
    place: dict[tuple[int, int], int] = {}
    for position, gene in enumerate(genes):
        ends = gene.source, gene.target
        is_loop, has_reverse = gene.source == gene.target, ends[::-1] in place
        if ends not in place or (has_reverse and not is_loop):
            place.setdefault(ends, len(made))
            made.append(gene)
            continue
        earlier = made[place[ends]]
        gater = earlier.gater if gene.gater is None else gene.gater
        if earlier.gater not in (None, gater):
            raise NetworkError(
                f"a second connection from {gene.source} to {gene.target}, with another gater",
                where=f"connections[{position}]",
                hint="synaptic lets both set the gain of one connection: keep one of them",
            )
        made[place[ends]] = gene.model_copy(update={"gater": gater})
    if len(made) < len(genes):
        warn(
            "synaptic restores connections with the same ends as one, with the last weight: "
            f"{len(genes) - len(made)} left out"
        )
    return made


def _with_unit_loop(gene: ListConnection) -> ListConnection:
    if gene.source != gene.target or gene.weight == 1.0:
        return gene
    warn(f"synaptic restores a self-connection of neuron {gene.source} with the weight 1")
    return gene.model_copy(update={"weight": 1.0})


_LIBRARY = ListLibrary(
    "synaptic", reversed_names(ACTIVATION_NAMES), unit_loops=True, first_gain=1.0, keeps_states=True
)


def write(net: Network) -> dict[str, Any]:
    """Return the document of a network, with one hidden layer that holds the neurons in order."""
    nodes, edges = write_list(net, _LIBRARY, outputs_last=True)
    return {
        "neurons": [
            {
                "trace": {"elegibility": {}, "extended": {}},
                "state": node.initial,
                "old": 0,
                "activation": node.initial,
                "bias": node.bias,
                "layer": 0 if node.kind == "hidden" else node.kind,
                "squash": _LIBRARY.activations[node.activation],
            }
            for node in nodes
        ],
        "connections": [edge.document() for edge in edges],
    }
