"""Live networks of neat-python, as the documents that its own exporter would write.

neat-python is never imported unless an object of it is here.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from neat_onnx.errors import DocumentError
from neat_onnx.readers.neat_python import ACTIVATION_NAMES, AGGREGATION_NAMES, not_supported

_KINDS = {"FeedForwardNetwork": "feedforward", "RecurrentNetwork": "recurrent"}
_LATER = {"CTRNN": "ctrnn", "IZNN": "iznn"}


def recognises(source: object) -> bool:
    """It is an object of a class of neat-python, or of one derived from it."""
    return bool(_class_names(source))


def to_document(network: Any) -> Mapping[str, Any]:
    """The network document of a live network.

    Raises:
        NetworkError: a kind of network that is not supported yet.
        DocumentError: not a network; of a genome the hint says how to make one.
    """
    names = _class_names(network)
    for kind in (_LATER[name] for name in names if name in _LATER):
        raise not_supported(kind)
    kinds = [_KINDS[name] for name in names if name in _KINDS]
    if not kinds:
        raise DocumentError(
            f"a {type(network).__name__} of neat-python is not a network",
            hint="Make one of a genome: neat.nn.FeedForwardNetwork.create(genome, config)",
        )
    inputs, outputs = list(network.input_nodes), list(network.output_nodes)
    return {
        "format_version": "1.0",
        "network_type": kinds[0],
        "topology": {"input_keys": inputs, "output_keys": outputs},
        "nodes": _nodes(network.node_evals, outputs),
        "connections": [
            {"from": source, "to": node, "weight": _number(weight)}
            for node, *_, links in network.node_evals
            for source, weight in links
        ],
    }


def _class_names(source: object) -> list[str]:
    return [
        kind.__name__
        for kind in type(source).__mro__
        if kind.__module__.partition(".")[0] == "neat"
    ]


def _nodes(evals: Any, outputs: list[int]) -> list[dict[str, Any]]:
    activations = _functions("activation", ACTIVATION_NAMES)
    aggregations = _functions("aggregation", AGGREGATION_NAMES)
    return [
        {
            "id": node,
            "type": "output" if node in outputs else "hidden",
            "activation": _described(activation, activations, "_activation"),
            "aggregation": _described(aggregation, aggregations, "_aggregation"),
            "bias": _number(bias),
            "response": _number(response),
        }
        for node, activation, aggregation, bias, response, _ in evals
    ]


def _functions(what: str, names: Mapping[str, str]) -> dict[int, str]:
    """The identities of neat-python's own functions to their names."""
    module = import_module(f"neat.{what}s")
    return {id(getattr(module, f"{name}_{what}", None)): name for name in names}


def _described(function: Any, known: Mapping[int, str], suffix: str) -> dict[str, Any]:
    if id(function) in known:
        return {"name": known[id(function)], "custom": False}
    own = getattr(function, "__name__", None) or type(function).__name__
    return {"name": own.removesuffix(suffix), "custom": True}


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
