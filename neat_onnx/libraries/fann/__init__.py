"""FANN: network files of floating point numbers, `fann_save`."""

from neat_onnx.libraries.library import DocumentLibrary


class Fann(DocumentLibrary):
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
