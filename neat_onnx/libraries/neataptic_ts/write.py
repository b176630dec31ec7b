"""Write networks as NeatapticTS's JSON, formatVersion 2, which `Network.fromJSON` loads."""

from typing import Any

from neat_onnx.libraries.list_draft import ListLibrary
from neat_onnx.libraries.list_writer import write_list
from neat_onnx.libraries.neataptic_ts.names import SQUASHES, spelled
from neat_onnx.libraries.neataptic_ts.read import VERSION
from neat_onnx.network.network import Network

_LIBRARY = ListLibrary("NeatapticTS", SQUASHES, adds_repeats=True, has_disabled=True)
_INPUT_SQUASH = "logistic"


def write(net: Network) -> dict[str, Any]:
    """Return the document of a network; `Network.fromJSON` and `clear()` make it compute the same.

    Raises:
        NetworkError: NeatapticTS cannot express something; lists every reason with neurons.
    """
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
