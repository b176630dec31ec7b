"""neat-onnx's own network JSON: `Network.to_json()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.network.network import Network


class Own(Library):
    """The format that holds everything."""

    name = "neat-onnx"
    keys = "format, inputs, outputs, neurons, connections"
    lost = "nothing"

    def recognises(self, content: object) -> bool:
        """Its `format` is this one, or it has none, but neurons."""
        if not isinstance(content, Mapping):
            return False
        return "neurons" in content if "format" not in content else content["format"] == self.name

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network, with the genes as they were saved.

        Raises:
            NetworkError: it is not a network; says where.
        """
        return Network.from_document(content)

    def write(self, network: Network) -> str:
        """Return the JSON text, one gene a line."""
        return network.to_json()
