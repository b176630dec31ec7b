"""Evolved neural networks to ONNX and back, proven equal.

import neat_onnx

net = neat_onnx.load_network("winner.json")
model = neat_onnx.export(net)
model.save("winner.onnx")
print(neat_onnx.verify(net, model))
"""

import importlib
import typing

from neat_onnx.api import (
    activation,
    canonicalize,
    certify,
    convert,
    diff,
    es_substrate_network,
    export,
    generate_code,
    import_model,
    json_schema,
    operator,
    replay,
    substrate_network,
    to_torch,
    verify,
)
from neat_onnx.errors import (
    DocumentError,
    ModelError,
    NeatOnnxError,
    NeatOnnxWarning,
    NetworkError,
    OptionError,
)
from neat_onnx.libraries.library import Library, ReadOptions
from neat_onnx.libraries.load import load_network, load_networks
from neat_onnx.libraries.neat_python import neat_population, to_neat_python
from neat_onnx.libraries.registry import libraries, register_library, unregister_library
from neat_onnx.model import Finding, Model, limits, load_model, validate
from neat_onnx.network.activations import register_activation, unregister_activation
from neat_onnx.network.aggregations import register_aggregation, unregister_aggregation
from neat_onnx.network.network import Network
from neat_onnx.network.summary import Summary, summary
from neat_onnx.options import ExportOptions
from neat_onnx.version import __version__

if typing.TYPE_CHECKING:
    from neat_onnx.population.population import Population
    from neat_onnx.verification.certificate import Certificate
    from neat_onnx.verification.report import Report

__all__ = [
    "Certificate",
    "DocumentError",
    "ExportOptions",
    "Finding",
    "Library",
    "Model",
    "ModelError",
    "NeatOnnxError",
    "NeatOnnxWarning",
    "Network",
    "NetworkError",
    "OptionError",
    "Population",
    "ReadOptions",
    "Report",
    "Summary",
    "__version__",
    "activation",
    "canonicalize",
    "certify",
    "convert",
    "diff",
    "es_substrate_network",
    "export",
    "generate_code",
    "import_model",
    "json_schema",
    "libraries",
    "limits",
    "load_model",
    "load_network",
    "load_networks",
    "neat_population",
    "operator",
    "register_activation",
    "register_aggregation",
    "register_library",
    "replay",
    "substrate_network",
    "summary",
    "to_neat_python",
    "to_torch",
    "unregister_activation",
    "unregister_aggregation",
    "unregister_library",
    "validate",
    "verify",
]

_IMPORTED_WHEN_USED = {
    "Certificate": "neat_onnx.verification.certificate",
    "Population": "neat_onnx.population.population",
    "Report": "neat_onnx.verification.report",
}


def __getattr__(name: str) -> typing.Any:
    """Return a public class of a room that few programs need."""
    if name not in _IMPORTED_WHEN_USED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_IMPORTED_WHEN_USED[name]), name)
