"""neataptic 1.4 network JSON: `Network.toJSON()`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.list_order import (
    ListConnection,
    ListDocument,
    ListNetwork,
    ListNode,
    compile_list,
    repeats,
)
from neat_onnx.network.network import Network
from neat_onnx.parsing import parse

name = "neataptic"
keys = "input, output, nodes, connections"

ACTIVATION_NAMES = {
    "LOGISTIC": "sigmoid",
    "TANH": "tanh",
    "IDENTITY": "identity",
    "STEP": "step",
    "RELU": "relu",
    "SOFTSIGN": "softsign",
    "SINUSOID": "sin",
    "GAUSSIAN": "gaussian",
    "BENT_IDENTITY": "bent_identity",
    "BIPOLAR": "bipolar",
    "BIPOLAR_SIGMOID": "bipolar_sigmoid",
    "HARD_TANH": "hard_tanh",
    "ABSOLUTE": "abs",
    "INVERSE": "complement",
    "SELU": "selu",
}


class _Node(ListNode):
    mask: float = 1.0  # 1 − dropout after training with dropout; multiplies the activation


class _Document(ListDocument):
    nodes: list[_Node]
    connections: list[ListConnection]


def recognises(document: Mapping[str, Any]) -> bool:
    """It has nodes, and the counts that neataptic writes or nodes with a squash."""
    nodes = document.get("nodes")
    return isinstance(nodes, list) and (
        "input" in document
        or "output" in document
        or any(isinstance(node, Mapping) and "squash" in node for node in nodes)
    )


def read(document: Mapping[str, Any]) -> Network:
    """The network that `Network.fromJSON(document)` evaluates after `clear()`, by `activate`.

    Raises:
        NetworkError: it is not a network; says where.
    """
    parsed = parse(_Document, document, NetworkError)
    genes = parsed.connections
    repeated = repeats(genes)
    if np.any(repeated):
        position = int(np.argmax(repeated))
        raise NetworkError(
            f"a second connection from {genes[position].source} to {genes[position].target}",
            where=f"connections[{position}]",
            hint="neataptic refuses it too: keep one, with the sum of both weights",
        )
    network = ListNetwork(
        library=name,
        names=ACTIVATION_NAMES,
        nodes=parsed.nodes,
        connections=genes,
        ids=np.arange(len(parsed.nodes)),
        masks=np.array([node.mask for node in parsed.nodes], np.float64),
        enabled=np.ones(len(genes), np.bool_),
    )
    return compile_list(network, parsed)
