"""synaptic 1.1: network JSON, `Network.toJSON()`."""

from collections.abc import Mapping

from neat_onnx.libraries.library import DocumentLibrary


class Synaptic(DocumentLibrary):
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
