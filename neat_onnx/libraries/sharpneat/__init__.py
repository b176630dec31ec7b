"""SharpNEAT: network files of version 4, and the older XML genomes of version 2."""

import re

from neat_onnx.libraries.library import DocumentLibrary

_HEAD = re.compile(r"\s*(#.*\s+)*\d+[ \t]+\d+[ \t]*\r?\n\s*(#.*\s+)*(a?cyclic)\b")


class SharpNEAT(DocumentLibrary):
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
