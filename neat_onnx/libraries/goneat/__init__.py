"""goNEAT: genomes as plain text and as YAML."""

import re

from neat_onnx.libraries.library import DocumentLibrary

_PLAIN = re.compile(r"^(genomestart \d+|node -?\d+ -?\d+ [01] [0-3]\b)", re.MULTILINE)
_YAML = re.compile(r"^genome:\s*(#.*)?$", re.MULTILINE)


class GoNEAT(DocumentLibrary):
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
