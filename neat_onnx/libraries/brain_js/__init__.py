"""brain.js: network JSON, `NeuralNetwork.toJSON()`."""

from collections.abc import Mapping

from neat_onnx.libraries.library import DocumentLibrary


class BrainJS(DocumentLibrary):
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
