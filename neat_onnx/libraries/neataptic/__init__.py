"""neataptic 1.4: network JSON, `Network.toJSON()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.populations import ExportedLibrary


class Neataptic(ExportedLibrary):
    """Networks evaluated in list order, with gates and dropout masks."""

    name = "neataptic"
    oracle = "its own code"
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
