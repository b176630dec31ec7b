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
    refuse_repeats,
)
from neat_onnx.libraries.text_numbers import coerced
from neat_onnx.network.network import Network
from neat_onnx.parsing import parse

name = "neataptic"

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


def read(document: Mapping[str, Any], initial_gain: float) -> Network:
    """Return the network that neataptic evaluates, by `activate` after `clear()`.

    Raises:
        NetworkError: the document is not a network; says where.
    """
    parsed = parse(_Document, coerced(document), NetworkError)
    genes = parsed.connections
    refuse_repeats(name, genes)
    network = ListNetwork(
        library=name,
        names=ACTIVATION_NAMES,
        nodes=parsed.nodes,
        connections=genes,
        initial_gain=initial_gain,
        masks=np.array([node.mask for node in parsed.nodes], np.float64),
    )
    return compile_list(network, parsed)
