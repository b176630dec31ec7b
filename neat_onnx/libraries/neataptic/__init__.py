"""neataptic 1.4: network JSON, `Network.toJSON()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)


class Neataptic(Library):
    """Networks evaluated in list order, with gates and dropout masks."""

    name = "neataptic"
    options = frozenset({"initial_gain"})
    lost = "ids, names, disabled genes: left out; responses, delays: expressed by added nodes"
    keys = "input, output, nodes, connections"

    def recognises(self, content: object) -> bool:
        """It has nodes, and the counts that neataptic writes or nodes with a squash."""
        nodes = content.get("nodes") if isinstance(content, Mapping) else None
        return (
            isinstance(content, Mapping)
            and isinstance(nodes, list)
            and (
                "input" in content
                or "output" in content
                or any(isinstance(node, Mapping) and "squash" in node for node in nodes)
            )
        )

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that `Network.fromJSON(content)` evaluates after `clear()`.

        Raises:
            NetworkError: it is not a network; says where.
            OptionError: the initial gain is not a finite number.
        """
        from neat_onnx.libraries.neataptic.read import read

        return read(content, options.initial_gain)

    def write(self, network: Network) -> dict[str, Any]:
        """Return the document that `Network.fromJSON` loads.

        Raises:
            NetworkError: the library cannot express something; lists every reason with neurons.
        """
        from neat_onnx.libraries.neataptic.write import write

        return write(network)
