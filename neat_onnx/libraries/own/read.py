"""neat-onnx's own network JSON: `Network.to_json()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.network.document import parse_network_document
from neat_onnx.network.network import Network

name = "neat-onnx"
keys = "format, inputs, outputs, neurons, connections"


def recognises(document: Mapping[str, Any]) -> bool:
    """It says so, or says nothing and has neurons."""
    if "format" in document:
        return bool(document["format"] == name)
    return "neurons" in document


def read(document: Mapping[str, Any]) -> Network:
    """The network, with the genes as they were saved.

    Raises:
        NetworkError: it is not a network; says where.
    """
    return parse_network_document(document).to_network()
