"""Document: a model whose JSON has the keys that NeatapticTS writes, no more and no fewer."""

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from neat_onnx.model import Model

_WINDOW_ORDER = ("kernel_shape", "strides", "pads")


class NeatapticModel(Model):
    """A model that writes whatever it was given, also what is empty."""

    @model_serializer(mode="wrap")
    def _without_empty(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document = {
            key: value for key, value in handler(self).items() if key in self.model_fields_set
        }
        for entry in document.get("opset_import", ()):
            entry.setdefault("domain", "")
        for node in document["graph"]["node"]:
            if node["op_type"] in ("Conv", "MaxPool", "AveragePool"):
                node["attributes"].sort(key=lambda entry: _WINDOW_ORDER.index(entry["name"]))
        return document
