"""Live networks of neat-python, as the documents that its own exporter would write.

neat-python is never imported unless an object of it is here.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from neat_onnx.errors import DocumentError
from neat_onnx.libraries.neat_python.static import ACTIVATION_NAMES, AGGREGATION_NAMES


def to_document(network: Any) -> Mapping[str, Any]:
    """The network document of a live network.

    Raises:
        DocumentError: not a network; of a genome the hint says how to make one.
    """
    for name in _class_names(network):
        if name in _DOCUMENTS:
            kind, parts = _DOCUMENTS[name]
            return {"format_version": "1.0", "network_type": kind, **parts(network)}
    raise DocumentError(
        f"a {type(network).__name__} of neat-python is not a network",
        hint="Make one of a genome: neat.nn.FeedForwardNetwork.create(genome, config)",
    )


def _discrete(network: Any) -> dict[str, Any]:
    """A feed-forward or recurrent network."""
    return _parts(
        network.input_nodes,
        network.output_nodes,
        [
            (node, _functions(activation, aggregation, bias, response), links)
            for node, activation, aggregation, bias, response, links in network.node_evals
        ],
    )


def _continuous(network: Any) -> dict[str, Any]:
    """A ctrnn; the version of neat-python says how it is integrated."""
    nodes = [
        (
            key,
            _functions(node.activation, node.aggregation, node.bias, node.response)
            | {"time_constant": _number(node.time_constant)},
            node.links,
        )
        for key, node in network.node_evals.items()
    ]
    version = import_module("neat").__version__
    parts = _parts(network.input_nodes, network.output_nodes, nodes)
    return parts | {"metadata": {"neat_python_version": version}}


def _spiking(network: Any) -> dict[str, Any]:
    """An iznn."""
    plain = {"activation": {"name": "izhikevich"}, "aggregation": {"name": "sum"}, "response": 1.0}
    numbers = ("bias", "a", "b", "c", "d")
    nodes = [
        (key, plain | {name: _number(getattr(node, name)) for name in numbers}, node.inputs)
        for key, node in network.neurons.items()
    ]
    return _parts(network.inputs, network.outputs, nodes)


_DOCUMENTS: dict[str, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    "FeedForwardNetwork": ("feedforward", _discrete),
    "RecurrentNetwork": ("recurrent", _discrete),
    "CTRNN": ("ctrnn", _continuous),
    "IZNN": ("iznn", _spiking),
}

_Node = tuple[int, dict[str, Any], Iterable[tuple[int, Any]]]
"""An id, what its document says, and its links (source, weight)."""


def _parts(inputs: Iterable[int], outputs: Iterable[int], nodes: list[_Node]) -> dict[str, Any]:
    """What every document has."""
    input_keys, output_keys = list(inputs), list(outputs)
    return {
        "topology": {"input_keys": input_keys, "output_keys": output_keys},
        "nodes": [
            {"id": key, "type": "output" if key in output_keys else "hidden", **said}
            for key, said, _ in nodes
        ],
        "connections": [
            {"from": source, "to": key, "weight": _number(weight)}
            for key, _, links in nodes
            for source, weight in links
        ],
    }


def _class_names(source: object) -> list[str]:
    return [
        kind.__name__
        for kind in type(source).__mro__
        if kind.__module__.partition(".")[0] == "neat"
    ]


def _functions(activation: Any, aggregation: Any, bias: Any, response: Any) -> dict[str, Any]:
    return {
        "activation": _described(activation, "activation", ACTIVATION_NAMES),
        "aggregation": _described(aggregation, "aggregation", AGGREGATION_NAMES),
        "bias": _number(bias),
        "response": _number(response),
    }


def _described(function: Any, what: str, names: Iterable[str]) -> dict[str, Any]:
    """neat-python's own functions are known by identity."""
    module = import_module(f"neat.{what}s")
    for name in names:
        if function is getattr(module, f"{name}_{what}", None):
            return {"name": name, "custom": False}
    own = getattr(function, "__name__", None) or type(function).__name__
    return {"name": own.removesuffix(f"_{what}"), "custom": True}


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
