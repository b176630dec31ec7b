"""The checksum of the genes that a graph holds, whatever the nodes that it holds them in.

An optimizer rewrites the nodes of a graph and leaves its function and the names of most tensors.
The genome in the metadata is still that of such a graph: every gene that the graph gives is, bit by
bit, the one that it gave when the genome was written. Where one gene differs the checksum does.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from neat_onnx.genome.canonical_order import canonical_order, function_names, rounded
from neat_onnx.genome.checksum import COVERED
from neat_onnx.model import DataType
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network

GENES = "neat_onnx.genes"


def gene_checksum(
    lifted: Network,
    lifted_of: Ints,
    data_type: DataType,
    metadata: Mapping[str, str],
    *,
    as_made: bool = False,
) -> str:
    """Return the SHA-256 of the genes of a graph and of the metadata about states and genome.

    Args:
        lifted: the network of the graph alone.
        lifted_of: for each neuron of the genome its neuron in `lifted`, NONE where it has none.
        data_type: the type of the graph's numbers, to which genes are rounded.
        metadata: the entries of the model.
        as_made: neurons that the genome has not stand in the order in which import made them, as
            in files written before they had a canonical order.
    """
    placed = lifted_of[lifted_of != NONE]
    if as_made:
        order = np.concatenate([placed, np.setdiff1d(np.arange(len(lifted)), placed)])
    else:
        order = canonical_order(lifted, placed, data_type)
    place = np.append(np.argsort(order), NONE).astype(np.int32)  # the last one is that of NONE
    ports = [[port.name, list(port.shape), place[port.neurons].tolist()] for port in _ports(lifted)]
    entries = [[key, metadata[key]] for key in COVERED if key in metadata]
    names = [each[order].tolist() for each in function_names(lifted, data_type)]
    digest = hashlib.sha256(json.dumps([entries, ports, names]).encode())
    for column in [*_neurons(lifted, order, data_type), *_connections(lifted, place, data_type)]:
        digest.update(_packed(column))
    return digest.hexdigest()


def _ports(net: Network) -> list[Any]:
    return [*net.inputs, *net.outputs]


def _neurons(net: Network, order: Ints, data_type: DataType) -> list[Any]:
    genes = net.neurons
    values = genes.bias, genes.response, genes.initial
    return [rounded(each[order], data_type) for each in values]


def _connections(net: Network, place: np.ndarray[Any, Any], data_type: DataType) -> list[Any]:
    """The fields of connections, which are sorted by all of them."""
    genes = net.connections
    columns: list[Any] = [
        place[genes.target],
        place[genes.source],
        genes.delay.astype(np.int32),
        genes.reads_state.astype(np.int32),
        place[genes.gater],
        genes.gate_delay.astype(np.int32),
        genes.enabled.astype(np.int32),
        rounded(genes.weight, data_type),
        rounded(genes.initial_gain, data_type),
    ]
    key = columns[0] * np.int64(len(place)) + columns[1]
    if np.all(key[1:] > key[:-1]):  # sorted, without parallel connections: the usual case
        return columns
    order = np.argsort(key, kind="stable")
    if not np.all(np.diff(key[order])):  # parallel ones
        order = np.lexsort(columns[::-1])
    return [column[order] for column in columns]


def _packed(column: np.ndarray[Any, Any]) -> memoryview:
    """A column in little-endian order; the first element alone where all are the same."""
    same = len(column) > 0 and bool(np.all(column == column[0]))
    kept = column[:1] if same else column
    return np.ascontiguousarray(kept, column.dtype.newbyteorder("<")).data
