"""synaptic 1.1: network JSON, `Network.toJSON()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)


class Synaptic(Library):
    """Layers of neurons evaluated one after another, with gates and self-connections."""

    name = "synaptic"
    oracle = "its own code"
    keys = "neurons, connections"
    lost = "ids, names, disabled genes: left out; responses, delays: expressed by added neurons"

    def recognises(self, content: object) -> bool:
        """Return whether it has neurons with a layer."""
        if not isinstance(content, Mapping) or "connections" not in content:
            return False
        neurons = content.get("neurons")
        return isinstance(neurons, list) and any(
            isinstance(neuron, Mapping) and "layer" in neuron for neuron in neurons
        )

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that `Network.fromJSON(content)` evaluates.

        Raises:
            NetworkError: it is not a network; says where.
        """
        from neat_onnx.libraries.synaptic.document import read

        return read(content)

    def write(self, network: Network) -> dict[str, Any]:
        """Return the document that `Network.fromJSON` loads.

        Raises:
            NetworkError: the library cannot express something; lists every reason with neurons.
        """
        from neat_onnx.libraries.synaptic.document import write

        return write(network)
