"""NeatapticTS network JSON: `Network.toJSON()`, formatVersion 2."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.list_order import (
    ListConnection,
    ListDocument,
    ListNetwork,
    ListNode,
    compile_list,
    repeats,
)
from neat_onnx.libraries.neataptic_ts.names import ACTIVATION_NAMES
from neat_onnx.network.network import Network
from neat_onnx.parsing import parse

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


def read(document: Mapping[str, Any], initial_gain: float) -> Network:
    """Return the network that NeatapticTS evaluates after `clear()`.

    Raises:
        NetworkError: the document is not a network; says where.
    """
    parsed = parse(_Document, document, NetworkError)
    if parsed.format_version != VERSION:
        warn(f"unknown formatVersion {parsed.format_version}: read as version {VERSION}")
    _warn_of_contradictions(parsed.nodes)
    genes = _without_lost_gaters(parsed)
    to_itself = np.array([gene.source == gene.target for gene in genes], np.bool_)
    enabled = np.array([gene.enabled for gene in genes], np.bool_)
    # Its nodes check `enabled` of what comes in from others only, and keep one self-connection.
    enabled = np.where(to_itself, ~repeats(genes), enabled)
    network = ListNetwork(
        library=name,
        names=ACTIVATION_NAMES,
        nodes=parsed.nodes,
        connections=genes,
        initial_gain=initial_gain,
        ids=_ids(parsed.nodes),
        enabled=enabled,
    )
    return compile_list(network, parsed)


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
