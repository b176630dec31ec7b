"""NeatapticTS: network JSON, `Network.toJSON()`; `onnx/` is its JSON ONNX."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.populations import ExportedLibrary, Writer, checked_gain
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)


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

    def read_network(self, document: Mapping[str, Any], options: ReadOptions) -> Network:
        """Return the network that `Network.fromJSON(document)` evaluates after `clear()`.

        Raises:
            NetworkError: it is not a network; says where.
            OptionError: the initial gain or the number of outputs is wrong.
        """
        from neat_onnx.libraries.neataptic_ts.document import read

        return read(document, checked_gain(options.initial_gain), options.outputs)

    def writer(self) -> Writer:
        """Return the writer of NeatapticTS's JSON."""
        from neat_onnx.libraries.neataptic_ts.document import write

        return write
