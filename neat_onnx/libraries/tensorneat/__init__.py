"""TensorNEAT: the dictionary that `network_dict` of a genome gives, as JSON."""

from collections.abc import Mapping

from neat_onnx.libraries.library import DocumentLibrary


class TensorNEAT(DocumentLibrary):
    """Nodes with bias, response, aggregation and activation; outputs have no activation."""

    name = "tensorneat"
    title = "TensorNEAT"
    oracle = "its own code"
    keys = "nodes, conns"
    options = frozenset({"inputs", "outputs", "cycles"})
    lost = "names, disabled genes, the numbers of inputs and outputs: left out; float32 there"

    def recognises(self, content: object) -> bool:
        """Return whether it is an object of nodes and conns."""
        return isinstance(content, Mapping) and "conns" in content and "nodes" in content
