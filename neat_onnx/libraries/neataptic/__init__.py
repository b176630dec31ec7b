"""neataptic 1.4: network JSON, `Network.toJSON()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.populations import ExportedLibrary
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)


class Neataptic(ExportedLibrary):
    """Networks evaluated in list order, with gates and dropout masks."""

    name = "neataptic"
    lost = "ids, names, disabled genes: left out; responses, delays: expressed by added nodes"
    keys = "input, output, nodes, connections"

    def recognises_network(self, document: Mapping[str, Any]) -> bool:
        """Return whether it has nodes, and the counts that neataptic writes or a squash."""
        nodes = document.get("nodes")
        return isinstance(nodes, list) and (
            "input" in document
            or "output" in document
            or any(isinstance(node, Mapping) and "squash" in node for node in nodes)
        )

    def read_network(self, document: Mapping[str, Any], options: ReadOptions) -> Network:
        """Return the network that `Network.fromJSON(document)` evaluates after `clear()`.

        Raises:
            NetworkError: it is not a network; says where.
            OptionError: the initial gain is not a finite number.
        """
        from neat_onnx.libraries.neataptic.read import read

        return read(document, options.initial_gain)

    def write(self, network: Network) -> dict[str, Any]:
        """Return the document that `Network.fromJSON` loads.

        Raises:
            NetworkError: the library cannot express something; lists every reason with neurons.
        """
        from neat_onnx.libraries.neataptic.write import write

        return write(network)
