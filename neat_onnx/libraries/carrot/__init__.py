"""carrot 0.3 (@liquid-carrot/carrot): network JSON, `Network.toJSON()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.populations import ExportedLibrary


class Carrot(ExportedLibrary):
    """Networks evaluated in list order, hidden nodes before outputs, with gates and masks."""

    name = "carrot"
    oracle = "its own code"
    keys = "input_nodes, output_nodes, nodes, connections"
    lost = "ids, names, disabled genes: left out; responses, delays: expressed by added nodes"

    def recognises_network(self, document: Mapping[str, Any]) -> bool:
        """Return whether it lists its input nodes or tells their number as carrot does."""
        return "nodes" in document and ("input_nodes" in document or "input_size" in document)
