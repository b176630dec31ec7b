"""neataptic 1.4: network JSON, `Network.toJSON()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.populations import ExportedLibrary, Reader, Writer

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)


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

    def reader(self) -> Reader:
        """Return the reader of neataptic's JSON."""
        from neat_onnx.libraries.neataptic.document import read

        return read

    def writer(self) -> Writer:
        """Return the writer of neataptic's JSON."""
        from neat_onnx.libraries.neataptic.document import write

        return write
