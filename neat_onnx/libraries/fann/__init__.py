"""FANN: network files of floating point numbers, `fann_save`."""

from typing import Any

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)


class Fann(Library):
    """Layers of neurons, with or without connections that skip layers."""

    name = "fann"
    title = "FANN"
    oracle = "libfann, but for two rectifiers"
    keys = "text that begins with FANN_FLO_2.1"
    suffixes = (".net",)
    lost = "ids, names, disabled genes: left out; libfann and libfloatfann round to float32"

    def recognises(self, content: object) -> bool:
        """Return whether it begins with FANN's signature."""
        return isinstance(content, str) and content.startswith("FANN_F")

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that `fann_run` evaluates.

        Raises:
            NetworkError: it is not a network; says where.
        """
        from neat_onnx.libraries.fann.document import read

        return read(content)

    def write(self, network: Network) -> str:
        """Return the text of the file that `fann_create_from_file` loads.

        Raises:
            NetworkError: FANN cannot express something; lists every reason with neurons.
        """
        from neat_onnx.libraries.fann.document import write

        return write(network)
