"""Write networks as carrot's JSON, which `Network.fromJSON` loads."""

from typing import Any

from neat_onnx.libraries.neataptic.write import list_document
from neat_onnx.network.network import Network


def write(net: Network) -> dict[str, Any]:
    """Return the document of a network; `Network.fromJSON` and `clear()` make it compute the same.

    Raises:
        NetworkError: carrot cannot express something; lists every reason with neurons.
    """
    document = list_document(net, "carrot")
    count, inputs, outputs = len(document["nodes"]), document["input"], document["output"]
    return {
        **document,
        "input_nodes": list(range(inputs)),
        "output_nodes": list(range(count - outputs, count)),
        "input_size": inputs,
        "output_size": outputs,
    }
