"""NeatapticTS: network JSON, `Network.toJSON()`; `onnx/` is its JSON ONNX."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.populations import ExportedLibrary


class NeatapticTS(ExportedLibrary):
    """Networks evaluated in list order, with gates, gene ids and disabled genes."""

    name = "neataptic-ts"
    title = "NeatapticTS"
    oracle = "its own code"
    lost = "names, responses, delays: expressed by added nodes; disabled self-connections: left out"
    keys = "formatVersion, nodes, connections"

    options = ExportedLibrary.options | {"outputs"}

    def recognises_network(self, document: Mapping[str, Any]) -> bool:
        """Return whether it has NeatapticTS's version key, or nodes with its gene ids."""
        nodes = document.get("nodes")
        return "formatVersion" in document or (
            isinstance(nodes, list)
            and any(isinstance(node, Mapping) and "geneId" in node for node in nodes)
        )
