"""Networks of neat-python, live or from a pickle, as the documents that its exporter would write.

neat-python is never imported.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from neat_onnx.errors import DocumentError, warn
from neat_onnx.libraries.neat_python.contents import class_name, network_class
from neat_onnx.libraries.neat_python.functions import described, name_of
from neat_onnx.libraries.neat_python.numbers import number
from neat_onnx.libraries.neat_python.pickled import Record
from neat_onnx.libraries.neat_python.versions import EXPONENTIAL, Version


def to_document(network: Any, version: str | None = None) -> Mapping[str, Any]:
    """The network document of a live network.

    Args:
        network: live, or from a pickle; one of `network_class`.
        version: of neat-python, if the caller gave it.

    Raises:
        DocumentError: it has not the parts of such a network.
    """
    name = network_class(network) or ""
    kind, parts = _DOCUMENTS[name]
    try:
        found = {"format_version": "1.0", "network_type": kind, **parts(network)}
    except (AttributeError, TypeError, ValueError) as error:
        raise DocumentError(f"not a {name} as neat-python makes them: {error}") from error
    if kind == "ctrnn":
        found["metadata"] = {"neat_python_version": version_of(network, version)}
    return found


def refuse(value: Any) -> NoReturn:
    """Refuse a value that holds no network.

    Raises:
        DocumentError: always; its hint says how to pickle one.
    """
    name = class_name(value) if isinstance(value, Record) else type(value).__name__
    called = "None" if value is None else f"a {name}"
    raise DocumentError(
        f"{called} is not a network of neat-python",
        hint="Give or pickle a network, a genome or a population of genomes (winner, "
        "stats.best_genome(), population.population)",
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
            | {"time_constant": number(node.time_constant)},
            node.links,
        )
        for key, node in network.node_evals.items()
    ]
    return _parts(network.input_nodes, network.output_nodes, nodes)


_BEFORE_2_1 = "2.0.0"


def version_of(network: Any, given: str | None, config: Version | None = None) -> str:
    """Return the version of neat-python that integrates a ctrnn; 0.92 does it as 2.0 does.

    Args:
        network: a genome or a network, live or from a pickle.
        given: the version that the caller gives, or None.
        config: the version that the configuration tells, or None.
    """
    if given is not None:
        return given
    if config is not None and isinstance(network, Record):
        return "2.1.0" if config >= EXPONENTIAL else _BEFORE_2_1
    if not isinstance(network, Record):
        return getattr(sys.modules.get("neat"), "__version__", _BEFORE_2_1)
    warn(
        "a pickled ctrnn does not say which neat-python integrates it: read as by 2.0 or older; "
        "for a newer one give version='2.1.0' (--library-version 2.1.0)"
    )
    return _BEFORE_2_1


def _spiking(network: Any) -> dict[str, Any]:
    """An iznn."""
    plain = {"activation": {"name": "izhikevich"}, "aggregation": {"name": "sum"}, "response": 1.0}
    numbers = ("bias", "a", "b", "c", "d")
    nodes = [
        (key, plain | {name: number(getattr(node, name)) for name in numbers}, node.inputs)
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
    """The fields that every document has."""
    input_keys, output_keys = list(inputs), list(outputs)
    return {
        "topology": {"input_keys": input_keys, "output_keys": output_keys},
        "nodes": [
            {"id": key, "type": "output" if key in output_keys else "hidden", **said}
            for key, said, _ in nodes
        ],
        "connections": [
            {"from": source, "to": key, "weight": number(weight)}
            for key, _, links in nodes
            for source, weight in links
        ],
    }


def _functions(activation: Any, aggregation: Any, bias: Any, response: Any) -> dict[str, Any]:
    return {
        "activation": described("activation", name_of(activation, "activation"), activation),
        "aggregation": described("aggregation", name_of(aggregation, "aggregation"), aggregation),
        "bias": number(bias),
        "response": number(response),
    }
