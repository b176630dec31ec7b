"""neat-python network JSON: `export_network_json(net)`, format version 1.0.

A feed-forward network is evaluated in topological order; a recurrent one reads the current inputs,
and the value of every other node one step before. Nodes that nothing reads are not in the file.
Networks whose step is an amount of time have readers of their own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import Field

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.neat_python.documents import (
    Connection,
    Document,
    Node,
    function_name,
    parse_document,
)
from neat_onnx.libraries.neat_python.silent import is_held, is_plain
from neat_onnx.network.genes import Connections, Neurons
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.schedule import schedule


class _StaticDocument(Document):
    """A network whose step is no amount of time; `silent` are genes of nodes that stay 0."""

    nodes: list[Node]
    silent: list[Node] = Field(default_factory=list)


def read(document: Mapping[str, Any]) -> Network:
    """The network, as neat-python 2 evaluates it."""
    return _network(parse_document(_StaticDocument, document))


def _network(document: _StaticDocument) -> Network:
    recurrent = document.network_type == "recurrent"
    inputs, outputs = document.topology.input_keys, document.topology.output_keys
    nodes = {node.id: node for node in document.nodes if node.type != "input"}
    silent = silent_ids(document, nodes, recurrent)
    if recurrent:
        others = (node.id for node in document.silent if node.id not in {*inputs, *nodes})
        silent = [*dict.fromkeys([*silent, *others])]
    holders = _holders(document, silent)
    ids = [*inputs, *nodes, *silent, *(holder.id for holder in holders.values())]
    links = [
        Connection.model_construct(source=holder.id, target=key, weight=0.0)
        for key, holder in holders.items()
    ]
    position = {key: index for index, key in enumerate(ids)}
    names = [""] * (len(ids) - len(holders)) + [f"genes of node {key}" for key in holders]
    neurons, activations, aggregations = _neurons([*document.nodes, *holders.values()], ids, names)
    network = Network(
        inputs=(Port("input", (len(inputs),), np.arange(len(inputs))),),
        outputs=(Port("output", (len(outputs),), _at(position, outputs)),),
        neurons=neurons,
        connections=_connections([*document.connections, *links], position, len(inputs), recurrent),
        activations=activations,
        aggregations=aggregations,
        library="neat-python recurrent" if recurrent else "neat-python feed-forward",
    )
    if not recurrent:
        _refuse_cycles(network)
    return network


def _holders(document: _StaticDocument, silent: Sequence[int]) -> dict[int, Node]:
    """The holders of silent nodes with genes, by the id of the node; see `silent.py`."""
    fresh = max([-1, *silent, *document.topology.input_keys, *(n.id for n in document.nodes)]) + 1
    found: dict[int, Node] = {}
    for at, node in enumerate(document.silent):
        genes, names = (node.bias, node.response), silent_functions(node, at)
        if names is None or node.id not in silent:
            continue
        if not is_plain(*names, *genes) and is_held(*names, *genes):
            found[node.id] = node.model_copy(update={"id": fresh + at})
    return found


def silent_functions(node: Node, index: int) -> tuple[str, str] | None:
    """The activation and the aggregation of a node that stays 0; None, with a warning, if nobody
    knows them.
    """
    try:
        return function_name(node, index, "activation"), function_name(node, index, "aggregation")
    except NetworkError as error:
        warn(f"node {node.id} stays at 0, and its genes are left out: {error.message}")
        return None


def _refuse_cycles(network: Network) -> None:
    try:
        schedule(network)
    except NetworkError as error:
        raise NetworkError(
            f"network_type is feedforward but {error.message}",
            where=error.where,
            hint="Export a network with cycles as a recurrent one",
        ) from error


def silent_ids(document: Document, nodes: Mapping[int, Node], recurrent: bool) -> list[int]:
    """Ids that stand for the constant 0: named, but not in the list of nodes.

    Both kinds of network start an output at 0, and leave it there if it has no node. In a recurrent
    one that also holds for a node without enabled connections into it.
    """
    inputs, outputs = document.topology.input_keys, document.topology.output_keys
    for key in dict.fromkeys(outputs):
        if key not in nodes and key not in inputs and not recurrent:
            warn(f"no node computes the output {key}: neat-python gives 0")
    known = {*inputs, *nodes, *outputs}
    silent = dict.fromkeys(key for key in outputs if key not in nodes and key not in inputs)
    for index, gene in enumerate(document.connections):
        where = f"connections[{index}]"
        if gene.enabled and gene.target in inputs:
            raise NetworkError(f"it ends in node {gene.target}, an input", where=f"{where}.to")
        if gene.enabled and gene.target not in nodes:
            raise NetworkError(f"no node {gene.target}", where=f"{where}.to")
        for end, key in (("from", gene.source), ("to", gene.target)):
            if key not in known:
                if not recurrent:
                    raise NetworkError(f"no node {key}", where=f"{where}.{end}")
                silent[key] = None
    return list(silent)


def _neurons(
    nodes: Sequence[Node], ids: Sequence[int], names: Sequence[str]
) -> tuple[Neurons, tuple[str, ...], tuple[str, ...]]:
    """The neurons with these ids; those without a node are the constant 0 or an input."""
    bias, response = dict.fromkeys(ids, 0.0), dict.fromkeys(ids, 1.0)
    functions, sums = dict.fromkeys(ids, "identity"), dict.fromkeys(ids, "sum")
    for index, node in enumerate(nodes):
        if node.type != "input":
            bias[node.id], response[node.id] = node.bias, node.response
            functions[node.id] = function_name(node, index, "activation")
            sums[node.id] = function_name(node, index, "aggregation")
    return Neurons.of(
        ids,
        [*functions.values()],
        [*sums.values()],
        bias=[*bias.values()],
        response=[*response.values()],
        name=names,
    )


def _connections(
    genes: Sequence[Connection], position: Mapping[int, int], inputs: int, recurrent: bool
) -> Connections:
    source = _at(position, [gene.source for gene in genes])
    return Connections.of(
        source,
        _at(position, [gene.target for gene in genes]),
        [gene.weight for gene in genes],
        enabled=[gene.enabled for gene in genes],
        delay=np.where(recurrent & (source >= inputs), 1, 0),
    )


def _at(position: Mapping[int, int], keys: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([position[key] for key in keys], np.int64)
