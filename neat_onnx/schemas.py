"""The JSON Schemas of the network document, of the options and of certificates."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from neat_onnx.arguments import shown
from neat_onnx.errors import OptionError
from neat_onnx.network.document import NetworkDocument
from neat_onnx.options import ExportOptions
from neat_onnx.schema_links import LINK, LINK_KEY, schema_id

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
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


_CERTIFICATE_EXAMPLE = {
    "format": "neat-onnx certificate",
    "version": 1,
    "network_sha256": "1f" * 32,
    "model_sha256": "2e" * 32,
    "model_json_sha256": "3d" * 32,
    "options": {"opset": 17},
    "versions": {"neat_onnx": "0.1.0", "numpy": "2.4.6", "python": "3.11.7"},
    "runs": {
        "reference": {
            "verdict": "equal",
            "passed": True,
            "mse": 2.5e-15,
            "normalised_mse": 2.5e-15,
            "bound": 1e-12,
            "max_abs_error": 1.9e-07,
            "max_rel_error": 1.9e-07,
            "samples": 256,
            "steps": 1,
            "seed": 0,
            "runtime": "onnx.reference 1.23.2",
            "dtype": "float32",
            "not_finite": 0,
            "values": 512,
        }
    },
    "verdict": "equal",
    "sha256": "4c" * 32,
}


def schema_named(name: str) -> dict[str, Any]:
    """The JSON Schema of one kind of document.

    Raises:
        OptionError: there is no schema of that name.
    """
    if not isinstance(name, str) or name not in SCHEMAS:
        raise OptionError(
            f"there is no schema named {shown(name)}",
            where="name",
            hint=f"Schemas: {', '.join(SCHEMAS)}",
        )
    return SCHEMAS[name]()


def model_schema() -> dict[str, Any]:
    """The JSON Schema of JSON ONNX."""
    from neat_onnx.model.schema import model_schema as schema  # noqa: PLC0415 (slow to import)

    return schema()


def network_schema() -> dict[str, Any]:
    """The JSON Schema of neat-onnx network JSON."""
    return _titled(NetworkDocument, "network", "neat-onnx network", [_NETWORK_EXAMPLE])


def options_schema() -> dict[str, Any]:
    """The JSON Schema of the export options, with the snake_case names."""
    examples = [{}, {"dtype": "float64", "mixed_activations": "per_neuron"}]
    return _titled(ExportOptions, "options", "neat_onnx export options", examples)


def certificate_schema() -> dict[str, Any]:
    """The JSON Schema of certificates."""
    from neat_onnx.verification.certificate import Certificate  # noqa: PLC0415 (slow to import)

    return _titled(Certificate, "certificate", "neat_onnx certificate", [_CERTIFICATE_EXAMPLE])


def _titled(kind: type[BaseModel], name: str, title: str, examples: list[Any]) -> dict[str, Any]:
    schema = kind.model_json_schema(by_alias=False)
    schema["properties"] = {LINK_KEY: LINK, **schema["properties"]}
    head = {"$schema": _DIALECT, "$id": schema_id(name)}
    return head | schema | {"title": title, "examples": examples}


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "model": model_schema,
    "network": network_schema,
    "options": options_schema,
    "certificate": certificate_schema,
}
"""The schema of each kind of document."""
