"""Write networks as neataptic's JSON, which `Network.fromJSON` loads."""

from typing import Any

from neat_onnx.libraries.list_draft import ListLibrary
from neat_onnx.libraries.list_writer import write_list
from neat_onnx.libraries.names import reversed_names
from neat_onnx.libraries.neataptic.read import ACTIVATION_NAMES
from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network

_ACTIVATIONS = reversed_names(ACTIVATION_NAMES)
_INPUT_SQUASH = "LOGISTIC"


def write(net: Network) -> dict[str, Any]:
    """Return the document of a network; `Network.fromJSON` and `clear()` make it compute the same.

    The outputs stand at the end of the nodes, where neataptic's mutations expect them.

    Raises:
        NetworkError: neataptic cannot express something; lists every reason with neurons.
    """
    return list_document(net, "neataptic")


def list_document(net: Network, title: str) -> dict[str, Any]:
    """Return the document of a network for neataptic, or for a library with its keys.

    Raises:
        NetworkError: the library cannot express something; lists every reason with neurons.
    """
    written = write_list(net, ListLibrary(title, _ACTIVATIONS), outputs_last=True)
    return {
        "nodes": [
            {
                "bias": node.bias,
                "type": node.kind,
                "squash": _INPUT_SQUASH if node.kind == "input" else _ACTIVATIONS[node.activation],
                "mask": 1,
                "index": index,
            }
            for index, node in enumerate(written.nodes)
        ],
        "connections": [
            {
                "weight": edge.weight,
                "from": edge.source,
                "to": edge.target,
                "gater": None if edge.gater == NONE else edge.gater,
            }
            for edge in written.edges
        ],
        "input": len(net.input_neurons),
        "output": len(net.output_neurons),
        "dropout": 0,
    }
