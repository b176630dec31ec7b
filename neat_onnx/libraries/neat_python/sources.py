"""Sources of neat-python to networks: JSON, live objects, pickles, checkpoints.

People keep genomes, networks and a configuration in one file, at any depth. The shallowest are
taken: the winner in a dictionary beside its population, the genomes of a population and not those
that its species remember.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from neat_onnx.errors import DocumentError, NetworkError, OptionError, warn
from neat_onnx.libraries.library import BEST, ReadOptions, no_genome
from neat_onnx.libraries.neat_python.genes import Genes, genes_of_document
from neat_onnx.libraries.neat_python.genome import (
    bases_of,
    genes_of_genome,
    genes_of_network,
    network_class,
    refuse,
    version_of,
)
from neat_onnx.libraries.neat_python.pickled import Record, number, unpickled
from neat_onnx.libraries.neat_python.settings import (
    installed,
    parsed_version,
    settings_for,
    settings_of,
)
from neat_onnx.libraries.neat_python.static import static_network
from neat_onnx.libraries.neat_python.texts import is_configuration, is_printed, printed_genome
from neat_onnx.libraries.neat_python.times import Times
from neat_onnx.network.network import Network
from neat_onnx.progress import tracked

_PLAIN = (str, bytes, int, float, bool, type(None))
_GROUPS = ("population", "members")
"""Attributes that hold the genomes of a Population, and of a Species."""


@dataclass
class Contents:
    """Genomes and networks that stand alone, populations with ids, the first configuration."""

    singles: list[Any] = field(default_factory=list)
    groups: list[tuple[int | None, Any]] = field(default_factory=list)
    config: Any = None

    def by_id(self, sign: float) -> dict[int, Any]:
        """The members of the populations, or the single ones if there is none, the best first.

        `sign` is -1 where the highest fitness is the best, else 1.
        """
        pairs = self.groups or [(None, one) for one in self.singles]
        ids: list[Any] = [getattr(one, "key", None) if key is None else key for key, one in pairs]
        if len(set(ids)) < len(ids) or not all(type(key) is int for key in ids):
            ids = list(range(len(pairs)))
        ranked = sorted(zip(ids, pairs, strict=True), key=lambda item: rank_of(item[1][1], sign))
        return {key: one for key, (_, one) in ranked}


def is_genome(value: object) -> bool:
    """Return whether it is a genome: an object with dictionaries of genes."""
    nodes, connections = getattr(value, "nodes", None), getattr(value, "connections", None)
    return isinstance(nodes, Mapping) and isinstance(connections, Mapping)


def rank_of(genome: Any, sign: float) -> float:
    """Return a genome's fitness times a sign, for sorting; infinity if it has none."""
    found = number(getattr(genome, "fitness", None))
    known = isinstance(found, int | float) and not math.isnan(found)
    return sign * float(found) if known else math.inf


def contents_of(root: Any) -> Contents:
    """Return the genomes, networks and the configuration in a value, in time linear in its size."""
    found, seen, level = Contents(), set[int](), [root]
    while level:
        singles: list[Any] = []
        groups: list[tuple[int | None, Any]] = []
        deeper: list[Any] = []
        for value in level:
            if type(value) in _PLAIN or id(value) in seen:
                continue
            seen.add(id(value))
            if is_genome(value) or network_class(value):
                singles.append(value)
            elif hasattr(getattr(value, "genome_config", value), "input_keys"):
                found.config = found.config or value
            elif group := _group(value):
                groups += group
            else:
                deeper.extend(_parts(value))
        found.singles = found.singles or singles
        found.groups = found.groups or groups
        level = deeper
    genomes = list(filter(is_genome, found.singles))
    found.singles = genomes or found.singles  # a network beside its genome is the same one
    return found


def _group(value: Any) -> list[tuple[int | None, Any]]:
    """The members of a population with their ids; none if it is no population."""
    if isinstance(value, Mapping) and all(type(key) is int for key in value):
        pairs: list[tuple[int | None, Any]] = list(value.items())
    elif isinstance(value, list | tuple) and len(value) > 1:
        pairs = [(None, one) for one in value]
    else:
        return []
    return pairs if all(is_genome(one) or network_class(one) for _, one in pairs) else []


def _parts(value: Any) -> Iterable[Any]:
    """The parts of an object or a container, as far as a network may be in them."""
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, list | tuple):
        is_checkpoint = len(value) in (5, 6) and isinstance(value[2], Mapping) and _group(value[2])
        return value[1:3] if is_checkpoint else value
    is_neat = any(name.startswith("neat.") for name in bases_of(value))
    if not isinstance(value, Record) and not (is_neat and hasattr(value, "__dict__")):
        return ()
    held = vars(value)
    for name in _GROUPS:
        if _group(held.get(name)):
            return [held[name], held.get("config")]
    best = held.get("most_fit_genomes")  # of a StatisticsReporter
    if isinstance(best, list) and best and all(map(is_genome, best)):
        return [min(best, key=lambda one: rank_of(one, -1.0))]
    more = (value.pickled_arguments, value.pickled_state) if isinstance(value, Record) else ()
    return [*held.values(), *more, *(getattr(value, "pickled_items", None) or ())]


def read(content: Any, options: ReadOptions) -> Network:
    """Return the one network of a source. See `NeatPython.read`."""
    if _is_document(content):
        return _whole(genes_of_document(content), options)
    found, config = _opened(content, options)
    if len(found.singles) == 1:
        return _single(found.singles[0], config, options)
    population = _population(found, options)
    if len(population) > 1:
        first = ", ".join(map(str, list(population)[:10]))
        raise OptionError(
            f"this is a population of {len(population)} genomes",
            where="genome",
            hint="Say which, genome=ID or genome='best' (--genome ID or --genome best), or use "
            f"load_networks. The fittest: {first}",
        )
    (only,) = population.values()
    return _single(only, config, options)


def read_all(content: Any, options: ReadOptions) -> dict[int, Network]:
    """Return all networks of a source. See `NeatPython.read_all`."""
    if _is_document(content):
        return {0: _whole(genes_of_document(content), options)}
    found, config = _opened(content, options)
    population = _population(found, options)
    if options.genome == BEST:
        population = dict(list(population.items())[:1])
    elif options.genome is not None:
        if options.genome not in population:
            raise no_genome(options.genome, population)
        population = {key: one for key, one in population.items() if key == options.genome}
    elif not found.groups and len(population) == 1:
        population = {0: found.singles[0]}
    return {key: _single(one, config, options) for key, one in tracked(list(population.items()))}


def _is_document(found: Any) -> bool:
    return isinstance(found, Mapping) and "network_type" in found


def _opened(content: Any, options: ReadOptions) -> tuple[Contents, object]:
    """The contents of a source, and the configuration to read it with: the caller's, or its own."""
    if isinstance(content, str):
        if is_configuration(content):
            raise DocumentError(
                "this is a configuration of neat-python, not a network",
                hint="Give it as config, beside the genome (command line: --config)",
            )
        if is_printed(content):
            content = printed_genome(content)
        else:
            content = content.encode(errors="surrogatepass")  # a pickle of protocol 0 may be text
    if isinstance(content, bytes):
        content = unpickled(content, options.max_opcodes)
    found = contents_of(content)
    if not found.singles and not found.groups:
        refuse(content)
    return found, found.config if options.config is None else options.config


def _population(found: Contents, options: ReadOptions) -> dict[int, Any]:
    """The genomes by id, the fittest first.

    The lowest fitness is the best where a configuration of 2.1 says so; older ones ignored that.
    The configuration that it evolved with is the better witness of it than the caller's.
    """
    known = options.config if found.config is None else found.config
    prefers_low = known is not None and settings_of(known).prefers_low
    return found.by_id(1.0 if prefers_low else -1.0)


def _single(found: Any, config: object, options: ReadOptions) -> Network:
    """The network of a genome, or of a network object."""
    if not is_genome(found):
        return _whole(genes_of_network(found, options.version), options)
    times = Times(options.time_step or None, options.advance_time)
    is_told = options.time_step is not None or options.advance_time is not None
    timed = options.time_step != 0.0 if is_told else None
    version = parsed_version(options.version)
    if version is None and not isinstance(found, Record):
        version = installed()
    settings = settings_for(found, config, options.inputs, options.outputs)
    try:
        genes = genes_of_genome(found, settings, timed=timed, version=version)
        if genes.kind == "ctrnn":
            genes.version = version_of(found, options.version, settings.version)
        return network_of(genes, times)
    except NetworkError as error:
        where = f"genome {getattr(found, 'key', None)}"
        error.where = f"{where}, {error.where}" if error.where else where
        raise


def _whole(genes: Genes, options: ReadOptions) -> Network:
    """The network of genes that are no genome's: they need no configuration."""
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
        from neat_onnx.libraries.neat_python.ctrnn import ctrnn_network  # noqa: PLC0415 - rare

        return ctrnn_network(genes, times)
    if genes.kind == "iznn":
        from neat_onnx.libraries.neat_python.iznn import iznn_network  # noqa: PLC0415 - rare

        return iznn_network(genes, times)
    times.refuse()
    return static_network(genes)
