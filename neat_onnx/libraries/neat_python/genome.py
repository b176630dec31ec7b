"""Genomes and networks of neat-python, live or from a pickle, to their genes.

A genome does not say how it is evaluated; its configuration does, and the kind of its genes.

- feed-forward: only nodes on the way to an output are evaluated, in topological order. Up to 0.92 a
  node without inputs never is, nor is whatever reads it, and such an output stays 0; 1.0 leaves out
  nodes that no input leads to; from 1.1 on a node without inputs is the activation of its bias.
- recurrent, ctrnn: a node without enabled connections into it stays 0, whatever its bias.
- iznn: all nodes are simulated.

All genes are kept, so that the genome can be written again: disabled ones, and nodes that no output
depends on. neat-python is never imported.
"""

import sys
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from neat_onnx.errors import DocumentError, NetworkError, OptionError, warn
from neat_onnx.libraries.genome_graph import Edge, completed, reached
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.neat_python.functions import Function, described
from neat_onnx.libraries.neat_python.genes import KINDS, Genes, NodeGene
from neat_onnx.libraries.neat_python.pickled import Name, Record, number
from neat_onnx.libraries.neat_python.settings import (
    EXPONENTIAL,
    FIRST_STABLE,
    NEWER,
    Settings,
    Version,
    installed,
    likely_counts,
    parsed_version,
    settings_for,
    versions_of_genes,
)

_Edges = list[Edge]


def genes_of_genome(genome: Any, config: object, options: ReadOptions) -> Genes:
    """Return the genes of a genome, live or pickled, as its network evaluates them."""
    nodes = {number(key): node for key, node in genome.nodes.items()}
    if not all(type(key) is int for key in nodes):
        raise NetworkError("a node gene has a key that is no integer", where="nodes")
    edges = [_connection_gene(gene) for gene in genome.connections.values()]
    settings = settings_for(nodes, edges, config, options.inputs, options.outputs)
    kind = _kind(nodes.values(), settings, options)
    genes = Genes(kind, settings.inputs, settings.outputs, connections=edges, acyclic=True)
    known: dict[Any, Function] = {}
    genes.nodes = [_node_gene(key, node, kind, known, settings) for key, node in nodes.items()]
    try:
        genes.missing(strict=True)
    except NetworkError as error:
        counts, seems = (len(genes.inputs), len(genes.outputs)), likely_counts(nodes, edges)
        fits = f"the genome seems to have {seems[0]} and {seems[1]}"
        error.hints = (f"The configuration has {counts[0]} inputs and {counts[1]} outputs; {fits}",)
        raise
    version = parsed_version(options.version)
    if version is None and not isinstance(genome, Record):
        version = installed()
    _evaluate(genes, genome, version, settings.version)
    if kind in ("recurrent", "ctrnn"):
        genes.silent = nodes.keys() - genes.fed()
    if kind == "ctrnn":
        genes.version = version_of(genome, options.version, settings.version)
    return genes


def _evaluate(
    genes: Genes, genome: Any, version: Version | None, of_config: Version | None
) -> None:
    """Leave out, or disable, what a version of neat-python leaves out; None goes by the genes."""
    oldest = version
    if version is None or oldest is None:
        nodes, connections = genome.nodes.values(), genome.connections.values()
        version, oldest = versions_of_genes(nodes, connections, of_config)
    edges, dead = _evaluated(genes, version)
    if oldest < version and _evaluated(genes, oldest) != (edges, dead):
        older, given = ("1.0", "1.0.0") if oldest == FIRST_STABLE else ("0.92 or 1.0", "0.92")
        warn(
            "the genome has nodes that no input leads to, and does not say its version: read as by "
            f"neat-python 1.1 or newer; if it is of {older}, where they are left out and outputs "
            f"among them stay 0, give version='{given}' (--library-version {given})"
        )
    if version < NEWER and (dead or edges != genes.connections):
        warn(
            f"neat-python {version[0]}.{version[1]} leaves out genes that newer ones evaluate: "
            "they do not come back when the network is written"
        )
    genes.connections = edges
    if dead:
        genes.nodes = [node for node in genes.nodes if node.key not in dead]


def _kind(nodes: Collection[Any], settings: Settings, options: ReadOptions) -> str:
    """Return the kind of network that neat-python would make of a genome."""
    if any(all(hasattr(node, name) for name in KINDS["iznn"].numbers) for node in nodes):
        return "iznn"
    is_told = options.time_step is not None or options.advance_time is not None
    if is_told and options.time_step != 0.0:
        if not all(hasattr(node, "time_constant") for node in nodes):
            raise NetworkError(
                "the nodes have no time constant, so the genome is not one of a ctrnn",
                hint="Up to neat-python 1.1 the time constant is an argument of CTRNN.create: "
                "pickle that network",
            )
        return "ctrnn"
    if settings.feed_forward:
        return "feedforward"
    constants = (number(getattr(node, "time_constant", 1.0)) for node in nodes)
    if not is_told and any(constant != 1.0 for constant in constants):
        raise OptionError(
            "the nodes have time constants, so this is a ctrnn, whose time step is not known",
            where="time_step",
            hint="Give time_step, or 0 for the recurrent network of these genes (--time-step)",
        )
    return "recurrent"


def _node_gene(
    key: int, node: Any, kind: str, known: dict[Any, Function], settings: Settings | None = None
) -> NodeGene:
    """Return the gene of a node of a genome or, without settings, of a network.

    Each function is looked at once: `known` has those of other nodes.
    """
    where = f"node {key}"
    numbers = {
        name: _number(getattr(node, name, None), name, where) for name in KINDS[kind].numbers
    }
    found = {"activation": Function("izhikevich")} if kind == "iznn" else {}
    for which in KINDS[kind].functions:
        function = name = getattr(node, which, None)
        if settings is not None:
            name = number(name)
            if not isinstance(name, str):
                what = bases_of(name)[0]
                raise NetworkError(f"{which} is an object of {what}, no name", where=where)
            function = settings.functions.get(which, {}).get(name)
        if (which, name) not in known:
            known[which, name] = described(which, function, name if settings else None)
        found[which] = known[which, name]
    return NodeGene(key, numbers, **found, where=where)


def _connection_gene(gene: Any) -> Edge:
    """Return a connection gene of a genome."""
    key = getattr(gene, "key", None)
    source, target = map(number, key) if isinstance(key, tuple) and len(key) == 2 else (None, None)
    if type(source) is not int or type(target) is not int:
        raise NetworkError("a connection gene has no key of two integers", where="connections")
    where = f"connection {source} to {target}"
    enabled = number(getattr(gene, "enabled", None))
    if type(enabled) is not bool:
        raise NetworkError("enabled is neither true nor false", where=where)
    weight = _number(getattr(gene, "weight", None), "weight", where)
    return Edge(source, target, weight, enabled)


def _number(value: Any, name: str, where: str) -> float:
    """A number of a gene, which is named in the refusal of anything else."""
    found = number(value)
    if type(found) is float:
        return found
    if type(found) is int and abs(found) <= sys.float_info.max:
        return float(found)
    what = f"an object of {bases_of(found)[0]}" if isinstance(found, Record) else f"{found!r:.40}"
    raise NetworkError(f"{name} is {what}, no number", where=where)


def _evaluated(genes: Genes, version: Version) -> tuple[_Edges, set[int]]:
    """The connections as a version evaluates them, and the outputs that stay 0."""
    edges = genes.connections
    if version == FIRST_STABLE and genes.kind != "iznn":
        edges = _led_to(genes)
    if genes.kind != "feedforward":
        return edges, set()
    sources: dict[int, list[int]] = {}
    for edge in edges:
        if edge.enabled:
            sources.setdefault(edge.target, []).append(edge.source)
    free = [node.key for node in genes.nodes if node.key not in sources]
    evaluated = everything = completed([*genes.inputs, *free], sources)
    if version < NEWER:
        evaluated = completed(genes.inputs, sources)
    dead = set(genes.outputs) - evaluated
    off = dead | {node.key for node in genes.nodes if node.key not in everything}
    return [e._replace(enabled=False) if e.target in off else e for e in edges], dead


def _led_to(genes: Genes) -> _Edges:
    """The connections as 1.0 takes them: it leaves out nodes that no input leads to.

    A feed-forward network there has no connections from such nodes; a recurrent one none between
    two nodes that are left out.
    """
    static, edges = genes.kind == "feedforward", genes.connections
    readers: dict[int, list[int]] = defaultdict(list)
    sources: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        if edge.enabled or not static:
            readers[edge.source].append(edge.target)
            sources[edge.target].append(edge.source)
    inputs = set(genes.inputs)
    led_to = reached(inputs, readers)
    led = {key: [s for s in found if s in led_to] for key, found in sources.items()}
    required = reached(genes.outputs, led, inputs)

    def acts(edge: Edge) -> bool:
        if static:
            return edge.source in inputs or edge.source in required
        return edge.source in required or edge.target in required

    return [edge._replace(enabled=edge.enabled and acts(edge)) for edge in edges]


def bases_of(value: Any) -> list[str]:
    """Return the names of an object's class, live or pickled, and of those it is derived from."""
    if isinstance(value, Record):
        name = value.pickled_name
        return [str(name) if isinstance(name, Name) else "pickle.Unknown"]  # a result's result
    return [f"{kind.__module__}.{kind.__qualname__}" for kind in type(value).__mro__]


def network_class(value: Any) -> str | None:
    """Return which network of neat-python an object is, live or pickled; None if none."""
    names = [base.rpartition(".")[2] for base in bases_of(value) if base.startswith("neat.")]
    return next((name for name in names if name in _NETWORKS), None)


class _Evaluation(NamedTuple):
    """A node as feed-forward and recurrent networks hold it."""

    key: int
    activation: Any
    aggregation: Any
    bias: float
    response: float
    links: list[tuple[int, float]]


_NETWORKS = {kind.network: name for name, kind in KINDS.items()}


def genes_of_network(network: Any, version: str | None = None) -> Genes:
    """Return the genes of a network object of neat-python, live or pickled."""
    name = network_class(network) or ""
    kind, known = _NETWORKS[name], dict[Any, Function]()
    _, inputs, outputs, nodes, *_ = KINDS[kind]
    try:
        found = Genes(kind, list(getattr(network, inputs)), list(getattr(network, outputs)))
        held = getattr(network, nodes)
        if not isinstance(held, Mapping):
            held = {node.key: node for node in (_Evaluation(*each) for each in held)}
        for key, node in held.items():
            gene = _node_gene(key, node, kind, known)
            found.nodes.append(gene)
            found.connections += [
                Edge(source, key, _number(weight, "a weight", gene.where))
                for source, weight in (node.inputs if kind == "iznn" else node.links)
            ]
        keys = [gene.key for gene in found.nodes] + [gene.source for gene in found.connections]
        if not all(type(key) is int for key in [*keys, *found.inputs, *found.outputs]):
            raise TypeError("a node's key is no integer")
    except (AttributeError, TypeError, ValueError) as error:
        raise DocumentError(f"not a {name} as neat-python makes them: {error}") from error
    if kind == "ctrnn":
        found.version = version_of(network, version)
    return found.checked()


def version_of(network: Any, given: str | None, config: Version | None = None) -> str:
    """Return the version of neat-python that integrates a ctrnn; 0.92 does it as 2.0 does.

    `given` is the caller's, `config` that of its configuration, if they tell it.
    """
    if given is not None:
        return given
    if not isinstance(network, Record):
        return getattr(sys.modules.get("neat"), "__version__", "2.0.0")
    if config is not None:
        return "2.1.0" if config >= EXPONENTIAL else "2.0.0"
    warn(
        "a pickled ctrnn does not say which neat-python integrates it: read as by 2.0 or older; "
        "for a newer one give version='2.1.0' (--library-version 2.1.0)"
    )
    return "2.0.0"
