"""brain.js: network JSON, `NeuralNetwork.toJSON()`."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)


class BrainJS(Library):
    """Dense layers with one activation for all neurons."""

    name = "brain.js"
    oracle = "its own code"
    keys = "sizes, layers, or inputLookup, layers"
    lost = (
        "float32 numbers; ids, names of hidden neurons, disabled genes: left out; missing "
        "connections: weights of 0"
    )

    def recognises(self, content: object) -> bool:
        """Return whether it has layers, with their sizes or names, or is a recurrent kind."""
        if not isinstance(content, Mapping):
            return False
        layers = "layers" in content and not {"sizes", "inputLookup"}.isdisjoint(content)
        return layers or ("hiddenLayers" in content and "type" in content)

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that `new NeuralNetwork().fromJSON(content)` runs.

        Raises:
            NetworkError: it is not such a network; says where.
        """
        from neat_onnx.libraries.brain_js.document import read

        return read(content)

    def write(self, network: Network) -> dict[str, Any]:
        """Return the document that `new NeuralNetwork().fromJSON` loads.

        Raises:
            NetworkError: brain.js cannot express something; lists every reason with neurons.
        """
        from neat_onnx.libraries.brain_js.document import write

        return write(network)
