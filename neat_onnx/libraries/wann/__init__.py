"""WANN and prettyNEAT: matrices of weights with a column of activations."""

from neat_onnx.libraries.library import DocumentLibrary


class Wann(DocumentLibrary):
    """Nodes in a row, each of which reads those before it; the first is 1."""

    name = "wann"
    title = "WANN"
    oracle = "its own code"
    keys = "a matrix of N rows with N + 1 numbers, separated by commas"
    suffixes = (".out",)
    options = frozenset({"inputs", "outputs"})
    lost = "ids, names, disabled genes and connections of weight 0: left out"

    def recognises(self, content: object) -> bool:
        """Return whether it is rows of numbers, each with one number more than there are rows."""
        if not isinstance(content, str):
            return False
        head, _, rest = content.lstrip("\ufeff").partition("\n")
        fields = head.split(",")
        if len(fields) < 3 or any(c not in "0123456789+-.eEnaNA, \t\r" for c in head):
            return False
        return bool(rest)
