"""Genomes of neat-python, as the documents that its exporter would write of their networks.

A genome does not say how it is evaluated; its configuration does, and the kind of its genes.

- feed-forward: only nodes on the way to an output are evaluated, in topological order. Up to 0.92 a
  node without inputs never is, nor is whatever reads it, and such an output stays 0; 1.0 leaves out
  nodes that no input leads to; from 1.1 on a node without inputs is the activation of its bias.
- recurrent, ctrnn: a node without enabled connections into it stays 0, whatever its bias; its genes
  stand apart, as `silent`.
- iznn: all nodes are simulated.

All genes are kept, so that the genome can be written again: disabled ones, and nodes that no output
depends on.

Networks of neat-python, live or from a pickle, as the documents that its exporter would write.

neat-python is never imported.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from neat_onnx.errors import DocumentError, NetworkError, OptionError, warn
from neat_onnx.libraries.genome_graph import reached
from neat_onnx.libraries.neat_python.documents import connection_document
from neat_onnx.libraries.neat_python.functions import Kind, described, name_of
from neat_onnx.libraries.neat_python.pickled import Name, Record, number
from neat_onnx.libraries.neat_python.settings import (
    EXPONENTIAL,
    FIRST_STABLE,
    NEWER,
    Settings,
    Version,
    likely_counts,
    oldest_version,
    version_of_genes,
)

_NETWORKS = ("FeedForwardNetwork", "RecurrentNetwork", "CTRNN", "IZNN")
_SPIKING = ("a", "b", "c", "d")


@dataclass(frozen=True)
class _Edge:
    """A connection gene."""

    source: int
    target: int
    weight: Any
    enabled: bool


def document_of_genome(
    genome: Any, settings: Settings, *, timed: bool | None = None, version: Version | None = None
) -> dict[str, Any]:
    """Return the network document of a genome.

    Args:
        genome: live, or from a pickle.
        settings: of its configuration.
        timed: whether it is a ctrnn; None where the caller does not say.
        version: of neat-python; None to go by genes and configuration.
    """
    nodes, edges = _genes(genome)
    _check_ends(genome, nodes, edges, settings)
    kind = _kind(nodes.values(), settings, timed)
    own, genes, known = edges, genome.connections.values(), version or settings.version
    version = version or version_of_genes(nodes, genes, settings.version)
    oldest = version if known else oldest_version(nodes, genes)
    edges, dead = _evaluated(nodes, own, settings, kind, version)
    if oldest < version and _evaluated(nodes, own, settings, kind, oldest) != (edges, dead):
        _warn_of_older(oldest)
    if version < NEWER:
        _warn_of_losses(version, sum(a != b for a, b in zip(own, edges, strict=True)), dead)
    fed = {edge.target for edge in edges if edge.enabled}
    silent: AbstractSet[int] = set()
    if kind in ("recurrent", "ctrnn"):
        dead = silent = nodes.keys() - fed
    return {
        "format_version": "1.0",
        "network_type": kind,
        "topology": {"input_keys": settings.inputs, "output_keys": settings.outputs},
        "nodes": [
            _node(key, node, settings, kind) for key, node in nodes.items() if key not in dead
        ],
        "silent": [
            _node(key, node, settings, kind) for key, node in nodes.items() if key in silent
        ],
        "connections": [
            connection_document(edge.source, edge.target, edge.weight, edge.enabled)
            for edge in edges
        ],
    }


def _evaluated(
    nodes: Mapping[int, Any], edges: list[_Edge], settings: Settings, kind: str, version: Version
) -> tuple[list[_Edge], AbstractSet[int]]:
    """The connections as a version evaluates them, and the outputs that stay 0."""
    dead = set[int]()
    if version == FIRST_STABLE and kind != "iznn":
        edges = _led_to(edges, settings, kind)
    if kind == "feedforward":
        edges, dead = _feed_forward(nodes, edges, settings, version < NEWER)
    return edges, dead


def _kind(nodes: Collection[Any], settings: Settings, timed: bool | None) -> str:
    """Return the type of network that neat-python would make of a genome."""
    if any(all(hasattr(node, name) for name in _SPIKING) for node in nodes):
        return "iznn"
    if timed:
        return "ctrnn"
    if settings.feed_forward:
        return "feedforward"
    constants = (number(getattr(node, "time_constant", 1.0)) for node in nodes)
    if timed is None and any(constant != 1.0 for constant in constants):
        raise OptionError(
            "the nodes have time constants, so this is a ctrnn, whose time step is not known",
            where="time_step",
            hint="Give time_step, or 0 for the recurrent network of these genes (--time-step)",
        )
    return "recurrent"


def _genes(genome: Any) -> tuple[Mapping[int, Any], list[_Edge]]:
    edges = []
    for gene in genome.connections.values():
        key: Any = getattr(gene, "key", None)
        is_pair = isinstance(key, tuple) and len(key) == 2
        source, target = map(number, key) if is_pair else (None, None)
        if type(source) is not int or type(target) is not int:
            raise NetworkError("a connection gene has no key of two integers", where="connections")
        enabled = number(getattr(gene, "enabled", None))
        if not isinstance(enabled, bool):
            where = f"connection {source} to {target}"
            raise NetworkError("enabled is neither true nor false", where=where)
        edges.append(_Edge(source, target, _number(gene, "weight", "connection", key), enabled))
    nodes = {number(key): node for key, node in genome.nodes.items()}
    if not all(type(key) is int for key in nodes):
        raise NetworkError("a node gene has a key that is no integer", where="nodes")
    return nodes, edges


def _number(gene: Any, name: str, kind: str, key: Any) -> Any:
    """A number of a gene, which is named in the refusal of an object."""
    found = number(getattr(gene, name, None))
    if isinstance(found, Record):
        what = f"{name} is an object of {class_name(found)}, no number"
        raise NetworkError(what, where=f"{kind} {key}")
    return found


def _check_ends(
    genome: Any, nodes: Mapping[int, Any], edges: list[_Edge], settings: Settings
) -> None:
    """Refuse a genome of another configuration."""
    inputs = set(settings.inputs)
    problem = next((f"no node {key}" for key in settings.outputs if key not in nodes), "")
    where = "the outputs of its configuration"
    for edge in edges if not problem else ():
        if edge.target not in nodes or (edge.source not in nodes and edge.source not in inputs):
            missing = edge.source if edge.target in nodes else edge.target
            problem, where = f"no node {missing}", f"connection {edge.source} to {edge.target}"
            break
    if problem:
        seems = likely_counts(genome)
        raise NetworkError(
            problem,
            where=where,
            hint=f"The configuration has {len(inputs)} inputs and {len(settings.outputs)} outputs; "
            f"the genome seems to have {seems[0]} and {seems[1]}",
        )


def _warn_of_older(oldest: Version) -> None:
    older, given = ("0.92 or 1.0", "0.92") if oldest < FIRST_STABLE else ("1.0", "1.0.0")
    warn(
        "the genome has nodes that no input leads to, and does not say its version: read as by "
        f"neat-python 1.1 or newer; if it is of {older}, where they are left out and outputs among "
        f"them stay 0, give version='{given}' (--library-version {given})"
    )


def _warn_of_losses(version: Version, disabled: int, dead: AbstractSet[int]) -> None:
    """Warn of genes that a newer neat-python would evaluate, which writing does not give back."""
    lost = [f"connections read as disabled, {disabled}"] if disabled else []
    if dead:
        lost.append(f"bias, response and functions of the outputs {', '.join(map(str, dead))}")
    if lost:
        warn(
            f"neat-python {version[0]}.{version[1]} leaves out genes that newer ones evaluate, so "
            f"they do not come back when the network is written: {'; '.join(lost)}"
        )


def _led_to(edges: list[_Edge], settings: Settings, kind: str) -> list[_Edge]:
    """The connections as 1.0 takes them: it leaves out nodes that no input leads to.

    A feed-forward network there has no connections from such nodes; a recurrent one none between
    two nodes that are left out.
    """
    static = kind == "feedforward"
    readers: dict[int, list[int]] = defaultdict(list)
    sources: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        if edge.enabled or not static:
            readers[edge.source].append(edge.target)
            sources[edge.target].append(edge.source)
    inputs = set(settings.inputs)
    led_to = reached(settings.inputs, readers)
    led = {key: [s for s in found if s in led_to] for key, found in sources.items()}
    required = reached(settings.outputs, led, inputs)

    def acts(edge: _Edge) -> bool:
        if static:
            return edge.source in inputs or edge.source in required
        return edge.source in required or edge.target in required

    return [replace(edge, enabled=edge.enabled and acts(edge)) for edge in edges]


def _feed_forward(
    nodes: Mapping[int, Any], edges: list[_Edge], settings: Settings, old: bool
) -> tuple[list[_Edge], set[int]]:
    """The connections that act, and the outputs that stay 0: see the module's text."""
    sources: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        if edge.enabled:
            sources[edge.target].append(edge.source)
    required = reached(settings.outputs, sources, set(settings.inputs))
    begin = set(settings.inputs)
    if not old:
        begin |= {key for key in required if key not in sources}
    evaluated = _completed(begin, {key: sources[key] for key in required if key in sources})
    dead = {key for key in settings.outputs if key not in evaluated}
    everything = _completed({*settings.inputs, *(k for k in nodes if k not in sources)}, sources)
    off = dead | {key for key in nodes if key not in everything and key not in evaluated}
    return [
        _Edge(e.source, e.target, e.weight, e.enabled and e.target not in off) for e in edges
    ], dead


def _completed(begin: set[int], sources: Mapping[int, list[int]]) -> set[int]:
    """The nodes all of whose sources are reached, in topological order, starting from the nodes of
    `begin`.
    """
    missing = {key: len(values) for key, values in sources.items()}
    readers: dict[int, list[int]] = defaultdict(list)
    for key, values in sources.items():
        for source in values:
            readers[source].append(key)
    found, todo = set(begin), list(begin)
    while todo:
        for reader in readers.get(todo.pop(), ()):
            missing[reader] -= 1
            if not missing[reader] and reader not in found:
                found.add(reader)
                todo.append(reader)
    return found


def _node(key: int, node: Any, settings: Settings, kind: str) -> dict[str, Any]:
    of = "node", key
    said: dict[str, Any] = {
        "id": key,
        "type": "output" if key in settings.outputs else "hidden",
        "bias": _number(node, "bias", *of),
    }
    if kind == "iznn":
        plain = {"activation": {"name": "izhikevich"}, "aggregation": {"name": "sum"}}
        return said | plain | {"response": 1.0} | {n: _number(node, n, *of) for n in _SPIKING}
    said["response"] = _number(node, "response", *of)
    tables: dict[Kind, Mapping[str, Any]] = {
        "activation": settings.activations,
        "aggregation": settings.aggregations,
    }
    for what, functions in tables.items():
        name = number(getattr(node, what, None))
        said[what] = described(what, name, functions.get(name) if isinstance(name, str) else None)
    if kind == "ctrnn":
        if not hasattr(node, "time_constant"):
            raise NetworkError(
                f"node {key} has no time constant, so the genome is not one of a ctrnn",
                hint="Up to neat-python 1.1 the time constant is an argument of CTRNN.create: "
                "pickle that network",
            )
        said["time_constant"] = _number(node, "time_constant", *of)
    return said


def class_name(value: Any) -> str:
    """Return the name of an object's class, live or pickled, with its module."""
    if isinstance(value, Record):
        name = value.pickled_name
        return str(name) if isinstance(name, Name) else "pickle.Unknown"  # the result of a result
    return f"{type(value).__module__}.{type(value).__qualname__}"


def network_class(value: Any) -> str | None:
    """Return which network of neat-python an object is, live or pickled; None if none."""
    live = [class_name(value)] if isinstance(value, Record) else bases_of(value)
    names = [name.rpartition(".")[2] for name in live if name.startswith("neat.")]
    return next((name for name in names if name in _NETWORKS), None)


def bases_of(value: Any) -> list[str]:
    """Return the names of a live object's class and of those that it is derived from."""
    return [f"{kind.__module__}.{kind.__name__}" for kind in type(value).__mro__]


def document_of_network(network: Any, version: str | None = None) -> Mapping[str, Any]:
    """The network document of a live network.

    Args:
        network: live, or from a pickle; one of `network_class`.
        version: of neat-python, if the caller gave it.
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
    """Refuse a value that holds no network."""
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
