"""NeatapticTS's network JSON, formatVersion 2, read and written: `Network.toJSON()`."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.list_order import (
    ListConnection,
    ListNetwork,
    ListNode,
    check_sizes,
    repeats,
)
from neat_onnx.libraries.list_writer import ListLibrary, write_list
from neat_onnx.libraries.names import reversed_names
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.network.network import Network
from neat_onnx.parsing import ForeignDocument, parse

ACTIVATION_NAMES = {
    "logistic": "sigmoid",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "identity": "identity",
    "step": "step",
    "relu": "relu",
    "softsign": "softsign",
    "sinusoid": "sin",
    "gaussian": "gaussian",
    "bentIdentity": "bent_identity",
    "bipolar": "bipolar",
    "bipolarSigmoid": "bipolar_sigmoid",
    "hardTanh": "hard_tanh",
    "absolute": "abs",
    "inverse": "complement",
    "selu": "selu",
    "softplus": "softplus",
    "swish": "swish",
    "gelu": "gelu",
    "mish": "mish",
}
SQUASHES = reversed_names(ACTIVATION_NAMES)
"""Names of ours to the usual one of NeatapticTS's."""


def spelled(activation: str, spelling: str) -> str:
    """Return NeatapticTS's name of an activation: the one it was read with, if it means that."""
    known = ACTIVATION_NAMES.get(spelling) == activation
    return spelling if known else SQUASHES.get(activation, activation)


name = "NeatapticTS"
VERSION = 2
_EXACT_IN_JAVASCRIPT = 2**53
_TYPES = ("input", "output", "hidden", "constant", "variant")


class _Node(ListNode):
    type: str
    index: int | None = None
    gene_id: Annotated[int, Field(ge=0, le=_EXACT_IN_JAVASCRIPT)] | None = Field(
        None, alias="geneId"
    )


class _Connection(ListConnection):
    enabled: bool = True


class _Document(ForeignDocument):
    format_version: int | None = Field(None, alias="formatVersion")
    input: int | None = None
    output: int | None = None
    nodes: list[_Node]
    connections: list[_Connection]


def read(document: Mapping[str, Any], options: ReadOptions) -> Network:
    """Return the network that NeatapticTS evaluates after `clear()`."""
    parsed = parse(_Document, document, NetworkError)
    _warn_of_contradictions(parsed)
    nodes, kinds = parsed.nodes, [node.type for node in parsed.nodes]
    genes = _without_lost_gaters(parsed.connections, len(nodes))
    # Its nodes check `enabled` of what comes in from others only, and keep one self-connection.
    loops = np.array([gene.source == gene.target for gene in genes], np.bool_)
    acts = loops & ~repeats(genes)
    enabled = np.array([gene.enabled for gene in genes], np.bool_)
    _warn_of_flags(genes, kinds, acts)
    return ListNetwork(
        library=name,
        registered_for="neataptic-ts",
        names=ACTIVATION_NAMES,
        nodes=nodes,
        kinds=kinds,
        connections=genes,
        initial_gain=options.initial_gain or 0.0,
        ids=_ids(nodes),
        enabled=np.where(loops, acts, enabled),
    ).compiled()


def _warn_of_contradictions(document: _Document) -> None:
    """Warn of fields that NeatapticTS does not go by; refuse nodes that are missing."""
    if document.format_version != VERSION:
        warn(f"unknown formatVersion {document.format_version}: read as version {VERSION}")
    nodes = document.nodes
    moved = [at for at, node in enumerate(nodes) if node.index not in (None, at)]
    if moved:
        warn(
            f"{len(moved)} nodes have an index other than their position, the first is "
            f"nodes[{moved[0]}]: the position counts"
        )
    odd = next((at for at, node in enumerate(nodes) if node.type not in _TYPES), None)
    if odd is not None:
        warn(f"nodes[{odd}] is of an unknown type '{nodes[odd].type}': read as hidden")
    kinds = [node.type for node in nodes]
    said, found = document.output, kinds.count("output")
    if said is not None and said < found:  # crossover leaves such networks
        warn(f"output is {said} but {found} nodes have type output: `activate` returns them all")
        said = found
    check_sizes(kinds, document.input, said)


def _warn_of_flags(genes: list[_Connection], kinds: list[str], acts: Bools) -> None:
    """Warn of disabled connections whose flag NeatapticTS does not go by: it does not come back."""
    ignored = [
        f"connections[{at}]"
        for at, gene in enumerate(genes)
        if not gene.enabled
        and (acts[at] or (gene.gater is not None and kinds[gene.gater] == "input"))
    ]
    if ignored:
        warn(
            f"{name} ignores that these are disabled, and they are written as enabled: "
            f"{', '.join(ignored)}; a self-connection acts, and one that an input gates never does"
        )


def _without_lost_gaters(connections: list[_Connection], count: int) -> list[_Connection]:
    """The connections, without gaters that do not exist: a mutation has removed them."""
    genes = [
        gene.model_copy(update={"gater": None})
        if gene.gater is not None and not 0 <= gene.gater < count
        else gene
        for gene in connections
    ]
    lost = [at for at, gene in enumerate(genes) if gene is not connections[at]]
    if lost:
        warn(
            f"{len(lost)} connections are gated by a node that does not exist, the first is "
            f"connections[{lost[0]}]: they are read without a gate, as NeatapticTS does"
        )
    return genes


def _ids(nodes: list[_Node]) -> Ints:
    """The gene ids where every node has one of its own, else the positions."""
    ids = [node.gene_id for node in nodes]
    if None in ids or len(set(ids)) != len(ids):
        return np.arange(len(nodes))
    return np.array(ids, np.int64)


_LIBRARY = ListLibrary("NeatapticTS", SQUASHES, adds_repeats=True, has_disabled=True)


def write(net: Network) -> dict[str, Any]:
    """Return a document that computes the same after `Network.fromJSON` and `clear()`."""
    nodes, edges = write_list(net, _LIBRARY)
    return {
        "formatVersion": VERSION,
        "input": len(net.input_neurons),
        "output": len(net.output_neurons),
        "dropout": 0,
        "nodes": [
            {
                "type": node.kind,
                "bias": node.bias,
                "squash": spelled(node.activation, net.spellings[node.neuron]),
                "index": index,
                "geneId": node.id,
            }
            for index, node in enumerate(nodes)
        ],
        "connections": [edge.document() | {"enabled": edge.enabled} for edge in edges],
    }
