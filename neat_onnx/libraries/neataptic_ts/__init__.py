"""NeatapticTS: network JSON, `Network.toJSON()`; `onnx/` is its JSON ONNX."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)


class NeatapticTS(Library):
    """Networks evaluated in list order, with gates, gene ids and disabled genes."""

    name = "neataptic-ts"
    title = "NeatapticTS"
    options = frozenset({"initial_gain"})
    lost = "names, responses, delays: expressed by added nodes; disabled self-connections: left out"
    keys = "formatVersion, nodes, connections"

    def recognises(self, content: object) -> bool:
        """It has NeatapticTS's version key, or nodes with its gene ids."""
        if not isinstance(content, Mapping):
            return False
        nodes = content.get("nodes")
        return "formatVersion" in content or (
            isinstance(nodes, list)
            and any(isinstance(node, Mapping) and "geneId" in node for node in nodes)
        )

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that `Network.fromJSON(content)` evaluates after `clear()`.

        Raises:
            NetworkError: it is not a network; says where.
            OptionError: the initial gain is not a finite number.
        """
        from neat_onnx.libraries.neataptic_ts.read import read

        return read(content, options.initial_gain)

    def write(self, network: Network) -> dict[str, Any]:
        """Return the document that `Network.fromJSON` loads.

        Raises:
            NetworkError: the library cannot express something; lists every reason with neurons.
        """
        from neat_onnx.libraries.neataptic_ts.write import write

        return write(network)
