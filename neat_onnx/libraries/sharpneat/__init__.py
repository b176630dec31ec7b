"""SharpNEAT: network files of version 4, and the older XML genomes of version 2."""

import re
from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)

_HEAD = re.compile(r"\s*(#.*\s+)*\d+[ \t]+\d+[ \t]*\r?\n\s*(#.*\s+)*(a?cyclic)\b")


class SharpNEAT(Library):
    """Nodes of one activation, acyclic, or updated a number of times in a step."""

    name = "sharpneat"
    title = "SharpNEAT"
    oracle = "the evaluation that it documents, written out"
    keys = "text: inputs outputs, acyclic or cyclic N, connections, 0 ReLU; or XML"
    suffixes = (".net",)
    options = frozenset({"cycles", "genome"})
    lost = "ids, names, disabled genes: left out; biases: by an added node"

    def recognises(self, content: object) -> bool:
        """Return whether it is text that begins as a network file, or XML of networks."""
        if not isinstance(content, str):
            return False
        begin = content[:4000]
        return bool(_HEAD.match(begin)) or ("<Network" in content and "<Node" in content)

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that SharpNEAT decodes.

        Raises:
            NetworkError: it is not a network; says where.
            OptionError: an XML genome has cycles, and `cycles` is not given.
        """
        from neat_onnx.libraries.sharpneat.read import read

        return read(content, options.cycles)

    def read_all(self, content: Any, options: ReadOptions) -> Mapping[int, Network]:
        """Return the networks of a population in XML by their ids, the fittest first.

        Raises:
            NetworkError: one of them is not a network; says where.
            OptionError: one of them has cycles, and `cycles` is not given.
        """
        from neat_onnx.libraries.sharpneat.read import read_all

        return read_all(content, options.cycles)

    def write(self, network: Network) -> str:
        """Return the text of a network file.

        Raises:
            NetworkError: SharpNEAT cannot express something; lists every reason with neurons.
        """
        from neat_onnx.libraries.sharpneat.net_file import write

        return write(network)
