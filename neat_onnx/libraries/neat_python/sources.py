"""Sources of neat-python to networks: JSON, live objects, pickles, checkpoints.

People keep genomes, networks and a configuration in one file, at any depth. The shallowest are
taken: the winner in a dictionary beside its population, the genomes of a population and not those
that its species remember.
"""

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from neat_onnx.errors import DocumentError, NetworkError, warn
from neat_onnx.libraries.catalogue import Members
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.neat_python.genes import Genes, genes_of_document
from neat_onnx.libraries.neat_python.genome import (
    bases_of,
    genes_of_genome,
    genes_of_network,
    network_class,
)
from neat_onnx.libraries.neat_python.pickled import Name, Record, number, unpickled
from neat_onnx.libraries.neat_python.settings import parsed_version, settings_of
from neat_onnx.libraries.neat_python.static import static_network
from neat_onnx.libraries.neat_python.texts import CONFIGURATION, PRINTED_GENE
from neat_onnx.libraries.neat_python.unrolled import Times, ctrnn_network, iznn_network
from neat_onnx.network.network import Network
from neat_onnx.network.side_by_side import repeated

_WORDS = {"True": True, "False": False, "None": None}
_PLAIN = (str, bytes, int, float, bool, type(None))
_Members = list[tuple[Any, Any]]


def is_genome(value: object) -> bool:
    """Return whether it is a genome: an object with dictionaries of genes."""
    nodes, connections = getattr(value, "nodes", None), getattr(value, "connections", None)
    return isinstance(nodes, Mapping) and isinstance(connections, Mapping)


def rank_of(genome: Any, sign: float) -> float:
    """Return a genome's fitness times a sign, for sorting; infinity if it has none."""
    found = number(getattr(genome, "fitness", None))
    known = isinstance(found, int | float) and not math.isnan(found)
    return sign * float(found) if known else math.inf


def contents_of(root: Any) -> tuple[_Members, Any]:
    """Return the genomes or networks in a value with the ids by which it holds them, and the first
    configuration; in time linear in its size.
    """
    members, config, seen = _Members(), None, set[int]()
    level: _Members = [(None, root)]
    while level and not (members and config):
        found, deeper = _Members(), _Members()
        for key, value in level:
            if type(value) in _PLAIN or id(value) in seen:
                continue
            seen.add(id(value))
            if is_genome(value) or network_class(value):
                found.append((key, value))
            elif hasattr(getattr(value, "genome_config", value), "input_keys"):
                config = config or value
            else:
                deeper.extend(_parts(value))
        members, level = members or found, deeper
    genomes = [(key, one) for key, one in members if is_genome(one)]
    return genomes or members, config  # a network beside its genome is the same one


def _parts(value: Any) -> Iterable[tuple[int | None, Any]]:
    """The parts of an object or a container, as far as a network may be in them."""
    if isinstance(value, Mapping):
        return [(key if type(key) is int else None, part) for key, part in value.items()]
    if isinstance(value, list | tuple):
        is_checkpoint = len(value) in (5, 6) and isinstance(value[2], Mapping)  # the best is last
        return [(None, part) for part in (value[1:3] if is_checkpoint else value)]
    is_neat = any(name.startswith("neat.") for name in bases_of(value))
    if not isinstance(value, Record) and not (is_neat and hasattr(value, "__dict__")):
        return ()
    held = vars(value)
    genomes = held.get("population") or held.get("members")  # of a Population or a Species
    if isinstance(genomes, Mapping) and all(map(is_genome, genomes.values())):
        return [*_parts(genomes), (None, held.get("config"))]
    best = held.get("most_fit_genomes")  # of a StatisticsReporter
    if isinstance(best, list) and best and all(map(is_genome, best)):
        return [(None, min(best, key=lambda one: rank_of(one, -1.0)))]
    more = value.pickled_parts if isinstance(value, Record) else ()
    return [(None, part) for part in (*held.values(), *more)]


def members(content: Any, options: ReadOptions) -> Members:
    """Return the networks of a source: of a checkpoint or genomes by id, the fittest first."""
    found, config = _opened(content, options)
    if len(found) == 1 and options.genome is None:
        found = [(found[0][0] or 0, found[0][1])]
    else:
        found = _by_id(found, config)
    return [(key, partial(_single, one, config, options)) for key, one in found]


def _opened(content: Any, options: ReadOptions) -> tuple[_Members, Any]:
    """The members of a source, and the configuration to read it with: the caller's, or its own."""
    if isinstance(content, Mapping) and "network_type" in content:
        return [(None, genes_of_document(content))], options.config
    if isinstance(content, str):
        if CONFIGURATION.search(content):
            hint = "Give it as config, beside the genome (command line: --config)"
            raise DocumentError("this is a configuration of neat-python, not a network", hint=hint)
        if PRINTED_GENE.search(content):
            content = _printed_genome(content)
        else:
            content = content.encode(errors="surrogatepass")  # a pickle of protocol 0 may be text
    if isinstance(content, bytes):
        content = unpickled(content, options.max_opcodes)
    members, config = contents_of(content)
    if not members:
        is_live = not isinstance(content, Record)
        name = type(content).__name__ if is_live else bases_of(content)[0]
        raise DocumentError(
            f"{'None' if content is None else f'a {name}'} is not a network of neat-python",
            hint="Give or pickle a network, a genome or a population of genomes (winner, "
            "stats.best_genome(), population.population)",
        )
    return members, config if options.config is None else options.config


def _printed_genome(text: str) -> Record:
    """The genome in a text that holds the genes of one, among other lines."""
    parts: dict[str, dict[Any, Record]] = {"nodes": {}, "connections": {}}
    for name, key, source, target, said in PRINTED_GENE.findall(text):
        place: Any = (int(source), int(target)) if source else int(key)
        genes = parts["connections" if source else "nodes"]
        if place in genes:
            hint = "Give the text of one genome, from Key: on"
            raise DocumentError(f"the text holds the gene of {key} twice", hint=hint)
        pairs = (item.partition("=")[::2] for item in said.split(", "))
        genes[place] = Record(Name("neat.genes", name), ())
        genes[place].build({word: _value(value) for word, value in pairs} | {"key": place})
    genome = Record(Name("neat.genome", "DefaultGenome"), ())
    genome.build(parts)
    return genome


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text  # the name of a function


def _by_id(members: _Members, config: Any) -> _Members:
    """The genomes with their ids, the fittest first.

    The lowest fitness is the best where a configuration of 2.1 says so; older ones ignored that.
    """
    ids: list[Any] = [getattr(one, "key", None) if key is None else key for key, one in members]
    if len(set(ids)) < len(ids) or not all(type(key) is int for key in ids):
        ids = list(range(len(members)))
    sign = 1.0 if config is not None and settings_of(config).prefers_low else -1.0
    pairs = zip(ids, (one for _, one in members), strict=True)
    return sorted(pairs, key=lambda pair: rank_of(pair[1], sign))


def _single(found: Any, config: object, options: ReadOptions) -> Network:
    """The network of a genome or another source, updated as often in a step as the caller says."""
    net = _of_one(found, config, options)
    return net if options.cycles is None else repeated(net, options.cycles)


def _of_one(found: Any, config: object, options: ReadOptions) -> Network:
    """The network of a genome, of a network object, or of genes that need no configuration."""
    times = Times(options.time_step or None, options.advance_time)
    if is_genome(found):
        try:
            return network_of(genes_of_genome(found, config, options), times)
        except NetworkError as error:
            where = f"genome {getattr(found, 'key', None)}"
            error.where = f"{where}, {error.where}" if error.where else where
            raise
    genes = found if isinstance(found, Genes) else genes_of_network(found, options.version)
    unused = ("config", "inputs", "outputs") + (() if genes.kind == "ctrnn" else ("version",))
    for name in unused:
        if getattr(options, name) is not None:
            warn(f"{name} is for genomes; this is a network, which does not need it")
    if parsed_version(options.version):
        genes.version = options.version
    return network_of(genes, Times(options.time_step, options.advance_time))


def network_of(genes: Genes, times: Times) -> Network:
    """Return the network of genes of any kind."""
    if genes.kind == "ctrnn":
        return ctrnn_network(genes, times)
    if genes.kind == "iznn":
        return iznn_network(genes, times)
    times.refuse()
    return static_network(genes)
