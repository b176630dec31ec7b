"""The JSON Schemas of the network document, of the options and of certificates."""

from typing import Any

from pydantic import BaseModel

from neat_onnx.arguments import shown
from neat_onnx.errors import OptionError
from neat_onnx.network.document import NetworkDocument
from neat_onnx.options import ExportOptions
from neat_onnx.schema_links import headed

_NETWORK_EXAMPLE = {
    "format": "neat-onnx",
    "version": 1,
    "inputs": [{"name": "input", "shape": [2], "neurons": [0, 1]}],
    "outputs": [{"name": "output", "shape": [1], "neurons": [2]}],
    "neurons": [{"id": 0}, {"id": 1}, {"id": 2, "activation": "tanh", "bias": 0.5}],
    "connections": [
        {"source": 0, "target": 2, "weight": 1.25},
        {"source": 1, "target": 2, "weight": -0.75, "enabled": False},
    ],
}


def schema_named(name: str) -> dict[str, Any]:
    """The JSON Schema of one kind of document; that of the options has the snake_case names.

    Raises:
        OptionError: there is no schema of that name.
    """
    if not isinstance(name, str) or name not in SCHEMAS:
        hint = f"Schemas: {', '.join(SCHEMAS)}"
        raise OptionError(f"there is no schema named {shown(name)}", where="name", hint=hint)
    match name:
        case "model":
            from neat_onnx.model.schema import model_schema  # noqa: PLC0415 (slow to import)

            return model_schema()
        case "network":
            return _titled(NetworkDocument, name, "neat-onnx network", _NETWORK_EXAMPLE)
        case "options":
            examples = [{}, {"dtype": "float64", "mixed_activations": "per_neuron"}]
            return _titled(ExportOptions, name, "neat_onnx export options", *examples)
    from neat_onnx.verification.certificate import Certificate  # noqa: PLC0415 (likewise)

    return _titled(Certificate, name, "neat_onnx certificate")


def _titled(kind: type[BaseModel], name: str, title: str, *examples: Any) -> dict[str, Any]:
    return headed(kind.model_json_schema(by_alias=False), name, title, examples)


SCHEMAS = ("model", "network", "options", "certificate")
"""The kinds of documents that have a schema."""
