"""NeatapticTS's network JSON, formatVersion 2, read and written: `Network.toJSON()`."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.list_order import (
    ListConnection,
    ListDocument,
    ListNetwork,
    ListNode,
    compile_list,
    initial_gain_of,
    repeats,
)
from neat_onnx.libraries.list_writer import ListLibrary, write_list
from neat_onnx.libraries.names import reversed_names
from neat_onnx.network.genes import Bools
from neat_onnx.network.network import Network
from neat_onnx.parsing import parse

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


_HIDDEN_TYPES = ("hidden", "constant", "variant")


class _Node(ListNode):
    index: int | None = None
    gene_id: Annotated[int, Field(ge=0, le=_EXACT_IN_JAVASCRIPT)] | None = Field(
        None, alias="geneId"
    )


class _Connection(ListConnection):
    enabled: bool = True


class _Document(ListDocument):
    format_version: int | None = Field(None, alias="formatVersion")
    nodes: list[_Node]
    connections: list[_Connection]


def read(document: Mapping[str, Any], options: ReadOptions) -> Network:
    """Return the network that NeatapticTS evaluates after `clear()`.

    Args:
        document: of `Network.toJSON()`.
        options: `outputs` is for a document that states another number than it has nodes of type
            output. Of too many nodes the first ones are the outputs; too few are completed by nodes
            that are 0, as `activate` completes them.
    """
    parsed = _sized(parse(_Document, document, NetworkError), options.outputs)
    if parsed.format_version != VERSION:
        warn(f"unknown formatVersion {parsed.format_version}: read as version {VERSION}")
    _warn_of_contradictions(parsed.nodes)
    genes = _without_lost_gaters(parsed)
    to_itself = np.array([gene.source == gene.target for gene in genes], np.bool_)
    enabled = np.array([gene.enabled for gene in genes], np.bool_)
    # Its nodes check `enabled` of what comes in from others only, and keep one self-connection.
    acts = to_itself & ~repeats(genes)
    _warn_of_flags(parsed, genes, acts)
    enabled = np.where(to_itself, acts, enabled)
    network = ListNetwork(
        library=name,
        registered_for="neataptic-ts",
        names=ACTIVATION_NAMES,
        nodes=parsed.nodes,
        connections=genes,
        initial_gain=initial_gain_of(options),
        ids=_ids(parsed.nodes),
        enabled=enabled,
    )
    return compile_list(network, parsed)


def _sized(document: _Document, outputs: int | None) -> _Document:
    """The document with as many nodes of type output as there shall be outputs."""
    places = [at for at, node in enumerate(document.nodes) if node.type == "output"]
    found, said = len(places), document.output
    said = found if said is None else said
    if outputs not in (None, found, said):
        raise OptionError(f"{outputs} is not the number of outputs, {said}", where="outputs")
    if said == found:
        return document
    if outputs is None or outputs > found + len(document.nodes):
        raise _unlike(said, found)
    nodes = list(document.nodes)
    for at in places[outputs:]:
        nodes[at] = nodes[at].model_copy(update={"type": "hidden"})
    free = 1 + max((node.gene_id for node in nodes if node.gene_id is not None), default=-1)
    missing = {"type": "output", "bias": 0.0, "squash": "identity"}
    for gene in range(free, free + outputs - found):
        nodes.append(_Node.model_validate(missing | {"geneId": gene}))
    return document.model_copy(update={"nodes": nodes, "output": outputs})


def _unlike(said: int, found: int) -> OptionError:
    nodes = "1 node has" if found == 1 else f"{found} nodes have"
    if said > found:
        way = f"outputs={said} (--outputs {said}) reads the missing ones as 0, as NeatapticTS does"
    else:
        way = f"outputs={found} (--outputs {found}) reads all that it returns, {said} the first"
    return OptionError(
        f"output is {said} but {nodes} type output",
        where="outputs",
        hint=f"NeatapticTS's crossover leaves such networks: {way}",
    )


def _warn_of_contradictions(nodes: list[_Node]) -> None:
    """Warn of fields that NeatapticTS does not go by."""
    moved = [at for at, node in enumerate(nodes) if node.index not in (None, at)]
    if moved:
        warn(
            f"{len(moved)} nodes have an index other than their position, the first is "
            f"nodes[{moved[0]}]: the position counts"
        )
    known = ("input", "output", *_HIDDEN_TYPES)
    odd = [at for at, node in enumerate(nodes) if node.type not in known]
    if odd:
        warn(f"nodes[{odd[0]}] is of an unknown type '{nodes[odd[0]].type}': read as hidden")


def _warn_of_flags(document: _Document, genes: list[_Connection], acts: Bools) -> None:
    """Warn of disabled connections whose flag NeatapticTS does not go by: it does not come back."""
    gated = {at for at, node in enumerate(document.nodes) if node.type == "input"}
    ignored = [
        f"connections[{at}]"
        for at, gene in enumerate(genes)
        if not gene.enabled and (acts[at] or gene.gater in gated)
    ]
    if ignored:
        warn(
            f"{name} ignores that these are disabled, and they are written as enabled: "
            f"{', '.join(ignored)}; a self-connection acts, and one that an input gates never does"
        )


def _without_lost_gaters(document: _Document) -> list[_Connection]:
    """The connections, without gaters that do not exist: a mutation has removed them."""
    count = len(document.nodes)
    lost = [
        at
        for at, gene in enumerate(document.connections)
        if gene.gater is not None and not 0 <= gene.gater < count
    ]
    genes = list(document.connections)
    for at in lost:
        genes[at] = genes[at].model_copy(update={"gater": None})
    if lost:
        warn(
            f"{len(lost)} connections are gated by a node that does not exist, the first is "
            f"connections[{lost[0]}]: they are read without a gate, as NeatapticTS does"
        )
    return genes


def _ids(nodes: list[_Node]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The gene ids where every node has one of its own, else the positions."""
    ids = [node.gene_id for node in nodes]
    if None in ids or len(set(ids)) != len(ids):
        return np.arange(len(nodes))
    return np.array(ids, np.int64)


_LIBRARY = ListLibrary("NeatapticTS", SQUASHES, adds_repeats=True, has_disabled=True)
_INPUT_SQUASH = "logistic"


def write(net: Network) -> dict[str, Any]:
    """Return a document that computes the same after `Network.fromJSON` and `clear()`."""
    written = write_list(net, _LIBRARY)
    return {
        "formatVersion": VERSION,
        "input": len(net.input_neurons),
        "output": len(net.output_neurons),
        "dropout": 0,
        "nodes": [
            {
                "type": node.kind,
                "bias": node.bias,
                "squash": _INPUT_SQUASH
                if node.kind == "input"
                else spelled(node.activation, net.spellings[node.neuron]),
                "index": index,
                "geneId": written.ids[index],
            }
            for index, node in enumerate(written.nodes)
        ],
        "connections": [edge.document() | {"enabled": edge.enabled} for edge in written.edges],
    }
