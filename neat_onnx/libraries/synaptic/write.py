"""Write networks as synaptic's JSON, which `Network.fromJSON` loads."""

from typing import Any

from neat_onnx.libraries.list_draft import ListLibrary
from neat_onnx.libraries.list_writer import write_list
from neat_onnx.libraries.names import reversed_names
from neat_onnx.libraries.synaptic.read import ACTIVATION_NAMES
from neat_onnx.network.network import Network

_LIBRARY = ListLibrary(
    "synaptic",
    reversed_names(ACTIVATION_NAMES),
    unit_loops=True,
    open_gates=True,
    keeps_states=True,
)
_INPUT_SQUASH = "LOGISTIC"


def write(net: Network) -> dict[str, Any]:
    """Return the document of a network, with one hidden layer that holds the neurons in order.

    Raises:
        NetworkError: synaptic cannot express something; lists every reason with neurons.
    """
    written = write_list(net, _LIBRARY, outputs_last=True)
    return {
        "neurons": [
            {
                "trace": {"elegibility": {}, "extended": {}},
                "state": node.initial,
                "old": 0,
                "activation": node.initial,
                "bias": node.bias,
                "layer": 0 if node.kind == "hidden" else node.kind,
                "squash": _INPUT_SQUASH
                if node.kind == "input"
                else _LIBRARY.activations[node.activation],
            }
            for node in written.nodes
        ],
        "connections": [edge.document() for edge in written.edges],
    }
