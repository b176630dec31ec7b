"""Genomes and networks of neat-python, live or from a pickle, to their genes.

A genome does not say how it is evaluated; its configuration does, and the kind of its genes.

- feed-forward: only nodes on the way to an output are evaluated, in topological order. Up to 0.92 a
  node without inputs never is, nor is whatever reads it, and such an output stays 0; 1.0 leaves out
  nodes that no input leads to; from 1.1 on a node without inputs is the activation of its bias.
- recurrent, ctrnn: a node without enabled connections into it stays 0, whatever its bias; its genes
  stand apart, as `silent`.
- iznn: all nodes are simulated.

All genes are kept, so that the genome can be written again: disabled ones, and nodes that no output
depends on. neat-python is never imported.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NoReturn

from neat_onnx.errors import DocumentError, NetworkError, OptionError, warn
from neat_onnx.libraries.genome_graph import completed, reached
from neat_onnx.libraries.neat_python.functions import Function, Kind, described, name_of
from neat_onnx.libraries.neat_python.genes import ConnectionGene, Genes, NodeGene, checked
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

_SPIKING = ("a", "b", "c", "d")
_NETWORKS = ("FeedForwardNetwork", "RecurrentNetwork", "CTRNN", "IZNN")


def genes_of_genome(
    genome: Any, settings: Settings, *, timed: bool | None = None, version: Version | None = None
) -> Genes:
    """Return the genes of a genome, live or pickled, as its network evaluates them.

    Args:
        genome, settings: with those of its configuration.
        timed: whether it is a ctrnn; None where the caller does not say.
        version: of neat-python; None to go by genes and configuration.
    """
    nodes, own = _genes(genome)
    _check_ends(genome, nodes, own, settings)
    kind = _kind(nodes.values(), settings, timed)
    known, genes = version or settings.version, genome.connections.values()
    version = version or version_of_genes(nodes, genes, settings.version)
    oldest = version if known else oldest_version(nodes, genes)
    edges, dead = _evaluated(nodes, own, settings, kind, version)
    if oldest < version and _evaluated(nodes, own, settings, kind, oldest) != (edges, dead):
        _warn_of_older(oldest)
    if version < NEWER:
        _warn_of_losses(version, sum(a != b for a, b in zip(own, edges, strict=True)), dead)
    silent: AbstractSet[int] = set()
    if kind in ("recurrent", "ctrnn"):
        dead = silent = nodes.keys() - {edge.target for edge in edges if edge.enabled}
    node_genes = _NodeGenes(settings, kind)
    return Genes(
        kind,
        settings.inputs,
        settings.outputs,
        [node_genes.of(key, node) for key, node in nodes.items() if key not in dead],
        edges,
        [node_genes.of(key, node) for key, node in nodes.items() if key in silent],
        acyclic=True,
    )


def _evaluated(
    nodes: Mapping[int, Any],
    edges: list[ConnectionGene],
    settings: Settings,
    kind: str,
    version: Version,
) -> tuple[list[ConnectionGene], AbstractSet[int]]:
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


def _genes(genome: Any) -> tuple[Mapping[int, Any], list[ConnectionGene]]:
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
        weight = _number(
            getattr(gene, "weight", None), "weight", f"connection {source} to {target}"
        )
        edges.append(ConnectionGene(source, target, weight, enabled))
    nodes = {number(key): node for key, node in genome.nodes.items()}
    if not all(type(key) is int for key in nodes):
        raise NetworkError("a node gene has a key that is no integer", where="nodes")
    return nodes, edges


def _number(value: Any, name: str, where: str) -> float:
    """A number of a gene, which is named in the refusal of anything else."""
    found = number(value)
    if type(found) is float:
        return found
    if type(found) is int and abs(found) <= sys.float_info.max:
        return float(found)
    what = f"an object of {class_name(found)}" if isinstance(found, Record) else f"{found!r:.40}"
    raise NetworkError(f"{name} is {what}, no number", where=where)


def _check_ends(
    genome: Any, nodes: Mapping[int, Any], edges: list[ConnectionGene], settings: Settings
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


def _led_to(edges: list[ConnectionGene], settings: Settings, kind: str) -> list[ConnectionGene]:
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

    def acts(edge: ConnectionGene) -> bool:
        if static:
            return edge.source in inputs or edge.source in required
        return edge.source in required or edge.target in required

    return [edge._replace(enabled=edge.enabled and acts(edge)) for edge in edges]


def _feed_forward(
    nodes: Mapping[int, Any], edges: list[ConnectionGene], settings: Settings, old: bool
) -> tuple[list[ConnectionGene], set[int]]:
    """The connections that act, and the outputs that stay 0: see the module's text."""
    sources: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        if edge.enabled:
            sources[edge.target].append(edge.source)
    required = reached(settings.outputs, sources, set(settings.inputs))
    begin = set(settings.inputs)
    if not old:
        begin |= {key for key in required if key not in sources}
    evaluated = completed(begin, {key: sources[key] for key in required if key in sources})
    dead = {key for key in settings.outputs if key not in evaluated}
    everything = completed({*settings.inputs, *(k for k in nodes if k not in sources)}, sources)
    off = dead | {key for key in nodes if key not in everything and key not in evaluated}
    return [e._replace(enabled=e.enabled and e.target not in off) for e in edges], dead


class _NodeGenes:
    """Makes node genes, each function of the configuration looked at once."""

    def __init__(self, settings: Settings, kind: str) -> None:
        self._kind, self._known = kind, dict[tuple[Kind, str], Function]()
        self._tables: dict[Kind, Mapping[str, Any]] = {
            "activation": settings.activations,
            "aggregation": settings.aggregations,
        }

    def of(self, key: int, node: Any) -> NodeGene:
        """Return the gene of a node."""
        where = f"node {key}"
        names = ["bias", *(_SPIKING if self._kind == "iznn" else ("response",))]
        if self._kind == "ctrnn":
            names.append("time_constant")
            if not hasattr(node, "time_constant"):
                raise NetworkError(
                    f"node {key} has no time constant, so the genome is not one of a ctrnn",
                    hint="Up to neat-python 1.1 the time constant is an argument of CTRNN.create: "
                    "pickle that network",
                )
        numbers = {name: _number(getattr(node, name, None), name, where) for name in names}
        if self._kind == "iznn":
            return _spiking_gene(key, numbers)
        activates, aggregates = (
            self._function(kind, node, where) for kind in ("activation", "aggregation")
        )
        bias, response = numbers.pop("bias"), numbers.pop("response")
        return NodeGene(key, bias, response, activates, aggregates, numbers, where)

    def _function(self, kind: Kind, node: Any, where: str) -> Function:
        name = number(getattr(node, kind, None))
        if not isinstance(name, str):
            what = class_name(name) if isinstance(name, Record) else type(name).__name__
            raise NetworkError(f"{kind} is an object of {what}, no name", where=where)
        if (kind, name) not in self._known:
            self._known[kind, name] = described(kind, name, self._tables[kind].get(name))
        return self._known[kind, name]


def _spiking_gene(key: int, numbers: dict[str, float]) -> NodeGene:
    bias, izhikevich = numbers.pop("bias"), Function("izhikevich")
    return NodeGene(key, bias, activation=izhikevich, numbers=numbers, where=f"node {key}")


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


def genes_of_network(network: Any, version: str | None = None) -> Genes:
    """Return the genes of a network object of neat-python, live or pickled."""
    name = network_class(network) or ""
    kind, inputs, outputs, evaluations = _PARTS[name]
    try:
        found = Genes(kind, list(getattr(network, inputs)), list(getattr(network, outputs)))
        for gene, links in evaluations(network):
            found.nodes.append(gene)
            found.connections += [
                ConnectionGene(source, gene.key, _number(weight, "a weight", gene.where))
                for source, weight in links
            ]
    except (AttributeError, TypeError, ValueError) as error:
        raise DocumentError(f"not a {name} as neat-python makes them: {error}") from error
    keys = [gene.key for gene in found.nodes] + [gene.source for gene in found.connections]
    if not all(type(key) is int for key in [*keys, *found.inputs, *found.outputs]):
        raise DocumentError(f"not a {name} as neat-python makes them: a node's key is no integer")
    if kind == "ctrnn":
        found.version = version_of(network, version)
    return checked(found)


_Evaluations = Iterable[tuple[NodeGene, Iterable[tuple[int, Any]]]]
"""Nodes, and the links into each: sources and weights."""


def _discrete(network: Any) -> _Evaluations:
    for key, activation, aggregation, bias, response, links in network.node_evals:
        yield _evaluated_gene(key, activation, aggregation, bias, response), links


def _continuous(network: Any) -> _Evaluations:
    for key, node in network.node_evals.items():
        gene = _evaluated_gene(key, node.activation, node.aggregation, node.bias, node.response)
        constant = _number(node.time_constant, "time_constant", gene.where)
        yield gene._replace(numbers={"time_constant": constant}), node.links


def _spiking(network: Any) -> _Evaluations:
    for key, node in network.neurons.items():
        names = ("bias", *_SPIKING)
        numbers = {name: _number(getattr(node, name), name, f"node {key}") for name in names}
        yield _spiking_gene(key, numbers), node.inputs


def _evaluated_gene(
    key: int, activation: Any, aggregation: Any, bias: Any, response: Any
) -> NodeGene:
    where = f"node {key}"
    return NodeGene(
        key,
        _number(bias, "bias", where),
        _number(response, "response", where),
        described("activation", name_of(activation, "activation"), activation),
        described("aggregation", name_of(aggregation, "aggregation"), aggregation),
        {},
        where,
    )


_PARTS: dict[str, tuple[str, str, str, Callable[[Any], _Evaluations]]] = {
    "FeedForwardNetwork": ("feedforward", "input_nodes", "output_nodes", _discrete),
    "RecurrentNetwork": ("recurrent", "input_nodes", "output_nodes", _discrete),
    "CTRNN": ("ctrnn", "input_nodes", "output_nodes", _continuous),
    "IZNN": ("iznn", "inputs", "outputs", _spiking),
}


def refuse(value: Any) -> NoReturn:
    """Refuse a value that holds no network."""
    name = class_name(value) if isinstance(value, Record) else type(value).__name__
    called = "None" if value is None else f"a {name}"
    raise DocumentError(
        f"{called} is not a network of neat-python",
        hint="Give or pickle a network, a genome or a population of genomes (winner, "
        "stats.best_genome(), population.population)",
    )


_BEFORE_2_1 = "2.0.0"


def version_of(network: Any, given: str | None, config: Version | None = None) -> str:
    """Return the version of neat-python that integrates a ctrnn; 0.92 does it as 2.0 does.

    `given` is the caller's, `config` that of its configuration, if they tell it.
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
