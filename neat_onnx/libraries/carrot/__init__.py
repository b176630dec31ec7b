"""carrot 0.3 (@liquid-carrot/carrot): network JSON, `Network.toJSON()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.populations import ExportedLibrary
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)


class Carrot(ExportedLibrary):
    """Networks evaluated in list order, hidden nodes before outputs, with gates and masks."""

    name = "carrot"
    keys = "input_nodes, output_nodes, nodes, connections"
    lost = "ids, names, disabled genes: left out; responses, delays: expressed by added nodes"

    def recognises_network(self, document: Mapping[str, Any]) -> bool:
        """Return whether it lists its input nodes or tells their number as carrot does."""
        return "nodes" in document and ("input_nodes" in document or "input_size" in document)

    def read_network(self, document: Mapping[str, Any], options: ReadOptions) -> Network:
        """Return the network that `Network.fromJSON(document)` evaluates after `clear()`.

        Raises:
            NetworkError: it is not a network; says where.
            OptionError: the initial gain is not a finite number.
        """
        from neat_onnx.libraries.carrot.read import read

        return read(document, options.initial_gain)

    def write(self, network: Network) -> dict[str, Any]:
        """Return the document that `Network.fromJSON` loads.

        Raises:
            NetworkError: the library cannot express something; lists every reason with neurons.
        """
        from neat_onnx.libraries.carrot.write import write

        return write(network)
