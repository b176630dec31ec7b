"""neataptic 1.4 network JSON, read and written: `Network.toJSON()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.list_order import (
    ListConnection,
    ListNetwork,
    ListNode,
    check_sizes,
    refuse_repeats,
)
from neat_onnx.libraries.list_writer import ListLibrary, write_list
from neat_onnx.libraries.names import reversed_names
from neat_onnx.network.network import Network
from neat_onnx.parsing import ForeignDocument, parse

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
    type: str
    mask: float = 1.0  # 1 − dropout after training with dropout


class _Document(ForeignDocument):
    input: int | None = None
    output: int | None = None
    nodes: list[_Node]
    connections: list[ListConnection]


def read(document: Mapping[str, Any], options: ReadOptions) -> Network:
    """Return the network that neataptic evaluates, by `activate` after `clear()`."""
    parsed = parse(_Document, document, NetworkError, strict=False)
    refuse_repeats(name, parsed.connections)
    kinds = [node.type for node in parsed.nodes]
    check_sizes(kinds, parsed.input, parsed.output)
    return ListNetwork(
        library=name,
        names=ACTIVATION_NAMES,
        nodes=parsed.nodes,
        kinds=kinds,
        connections=parsed.connections,
        initial_gain=options.initial_gain or 0.0,
    ).compiled()


_ACTIVATIONS = reversed_names(ACTIVATION_NAMES)


def write(net: Network) -> dict[str, Any]:
    """Return the document of a network; `Network.fromJSON` and `clear()` make it compute the same.

    The outputs stand at the end of the nodes, where neataptic's mutations expect them.
    """
    return list_document(net, name)


def list_document(net: Network, title: str) -> dict[str, Any]:
    """Return the document of a network for neataptic, or for a library with its keys."""
    nodes, edges = write_list(net, ListLibrary(title, _ACTIVATIONS), outputs_last=True)
    return {
        "nodes": [
            {
                "bias": node.bias,
                "type": node.kind,
                "squash": _ACTIVATIONS[node.activation],
                "mask": 1,
                "index": index,
            }
            for index, node in enumerate(nodes)
        ],
        "connections": [edge.document() for edge in edges],
        "input": len(net.input_neurons),
        "output": len(net.output_neurons),
        "dropout": 0,
    }
