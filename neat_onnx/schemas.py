"""The JSON Schemas of the network document and of the options."""

from typing import Any

from pydantic import BaseModel

from neat_onnx.network.document import NetworkDocument
from neat_onnx.options import ExportOptions

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BASE = "https://neat-onnx.github.io/schema/"

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


def network_schema() -> dict[str, Any]:
    """The JSON Schema of neat-onnx network JSON."""
    return _titled(NetworkDocument, "network", "neat-onnx network", [_NETWORK_EXAMPLE])


def options_schema() -> dict[str, Any]:
    """The JSON Schema of the export options, with the snake_case names."""
    examples = [{}, {"dtype": "float64", "mixed_activations": "per_neuron"}]
    return _titled(ExportOptions, "options", "neat_onnx export options", examples)


def _titled(kind: type[BaseModel], name: str, title: str, examples: list[Any]) -> dict[str, Any]:
    schema = kind.model_json_schema(by_alias=False)
    head = {"$schema": _DIALECT, "$id": f"{_BASE}{name}.schema.json"}
    return head | schema | {"title": title, "examples": examples}
