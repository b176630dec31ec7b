"""goNEAT: genomes as plain text and as YAML."""

import re
from collections.abc import Mapping
from typing import Any

from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 (reader and writer are imported when they are called)

_PLAIN = re.compile(r"^(genomestart \d+|node -?\d+ -?\d+ [01] [0-3]\b)", re.MULTILINE)
_YAML = re.compile(r"^genome:\s*(#.*)?$", re.MULTILINE)


class GoNEAT(Library):
    """Nodes that sum their inputs; a bias is a node that is always 1."""

    name = "goneat"
    title = "goNEAT"
    oracle = "its own code"
    keys = "text: genomestart ID, lines of trait, node and gene; or YAML: genome"
    suffixes = (".neat", ".yml", ".yaml")
    options = frozenset({"cycles", "genome"})
    lost = "names: left out; biases: by an added node"

    def recognises(self, content: object) -> bool:
        """Return whether it is text with the lines of a genome."""
        if not isinstance(content, str):
            return False
        begin = content[:4000]
        return bool(_PLAIN.search(begin) or _YAML.search(begin))

    def read(self, content: Any, options: ReadOptions) -> Network:
        """Return the network that goNEAT builds of a genome.

        Raises:
            NetworkError: it is not a genome, or one of several; says where.
            OptionError: the genome has a cycle, and `cycles` is not given.
        """
        from neat_onnx.libraries.goneat.document import read

        return read(content, options.cycles)

    def read_all(self, content: Any, options: ReadOptions) -> Mapping[int, Network]:
        """Return the networks of a population by their ids, in the order of the file.

        Raises:
            NetworkError: one of them is not a genome; says where.
            OptionError: one of them has a cycle, and `cycles` is not given.
        """
        from neat_onnx.libraries.goneat.document import read_all

        return read_all(content, options.cycles)

    def write(self, network: Network) -> str:
        """Return the genome as plain text.

        Raises:
            NetworkError: goNEAT cannot express something; lists every reason with neurons.
        """
        from neat_onnx.libraries.goneat.document import write

        return write(network)
