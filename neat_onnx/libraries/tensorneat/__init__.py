"""TensorNEAT: the dictionary that `network_dict` of a genome gives, as JSON."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)


class TensorNEAT(Library):
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

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that `forward` of the genome computes.

        Raises:
            NetworkError: it is not a network; says where.
            OptionError: `inputs` or `outputs` is missing or wrong, or `cycles` is missing.
        """
        from neat_onnx.libraries.tensorneat.document import read

        return read(content, options)

    def write(self, network: Network) -> dict[str, Any]:
        """Return the nodes and connections, as `network_dict` of the genome gives them.

        Raises:
            NetworkError: TensorNEAT cannot express something; lists every reason with neurons.
        """
        from neat_onnx.libraries.tensorneat.document import write

        return write(network)
