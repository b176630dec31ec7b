"""Sources of neat-python to networks: JSON, live objects, pickles, checkpoints."""

from collections.abc import Mapping
from typing import Any

from neat_onnx.arguments import shown
from neat_onnx.errors import DocumentError, NetworkError, OptionError
from neat_onnx.libraries.library import ReadOptions, no_genome
from neat_onnx.libraries.neat_python import genome as genomes
from neat_onnx.libraries.neat_python import kinds, live
from neat_onnx.libraries.neat_python.sections import is_configuration
from neat_onnx.libraries.neat_python.settings import prefers_low_fitness, settings_of
from neat_onnx.libraries.neat_python.times import Times
from neat_onnx.libraries.neat_python.unpickle import unpickled
from neat_onnx.libraries.neat_python.versions import parsed_version
from neat_onnx.network.network import Network

_CHECKPOINT = 5
"""Its parts: generation, config, population, species, state of the random numbers; from 2.1 on also
the best genome of all generations."""


def read(content: Any, options: ReadOptions) -> Network:
    """Return the one network of a source. See `NeatPython.read`."""
    found, config, own = _opened(content, options)
    if _is_document(found):
        return _network(found, config, options)
    population = _population(found, own)
    if population is None:
        return _single(found, config, options)
    if len(population) == 1:
        (only,) = population.values()
        return _single(only, config, options)
    first = ", ".join(map(str, list(population)[:10]))
    raise OptionError(
        f"this is a population of {len(population)} genomes",
        where="genome",
        hint=f"Say which (genome=ID, or --genome ID), or use load_networks. The fittest: {first}",
    )


def read_all(content: Any, options: ReadOptions) -> dict[int, Network]:
    """Return all networks of a source. See `NeatPython.read_all`."""
    found, config, own = _opened(content, options)
    population = None if _is_document(found) else _population(found, own)
    if population is None:
        single = _network(found, config, options) if _is_document(found) else None
        return {0: single or _single(found, config, options)}
    wanted = population if options.genome is None else [options.genome]
    if options.genome is not None and options.genome not in population:
        raise no_genome(options.genome, population)
    return {key: _single(population[key], config, options) for key in wanted}


def _opened(content: Any, options: ReadOptions) -> tuple[Any, object, object]:
    """The content of a source, the configuration to read it with, and the one that it evolved with.

    The caller's configuration stands for its own to read it; its own is the better witness of how
    it was evolved.
    """
    if isinstance(content, str):
        if is_configuration(content):
            raise DocumentError(
                "this is a configuration of neat-python, not a network",
                hint="Give it as config, beside the genome (command line: --config)",
            )
        content = content.encode("latin1", errors="replace")  # a pickle of protocol 0 is text
    found = unpickled(content) if isinstance(content, bytes) else content
    found, own = _with_configuration(found)
    given = options.config
    return found, own if given is None else given, given if own is None else own


def _with_configuration(found: Any) -> tuple[Any, object]:
    """The content, and the configuration that stands beside it, or None."""
    if isinstance(found, tuple) and len(found) in (_CHECKPOINT, _CHECKPOINT + 1):
        return found[2], found[1]
    if isinstance(found, tuple | list) and len(found) == 2 and genomes.is_genome(found[0]):
        return found[0], found[1]
    only, own = _only_genome(found)
    if only is not None:
        return only, own
    if hasattr(found, "population") and hasattr(found, "config"):  # a Population
        return found.population, found.config
    return found, None


def _only_genome(found: Any) -> tuple[Any, object]:
    """The one genome among the parts of a container, and the configuration beside it, or None."""
    parts: list[Any] = []
    if isinstance(found, Mapping) and not all(type(key) is int for key in found):
        parts = list(found.values())
    elif isinstance(found, list | tuple) and len(found) > 1:
        parts = list(found)
    held = [part for part in parts if genomes.is_genome(part)]
    configs = [part for part in parts if hasattr(part, "genome_config")]
    return held[0] if len(held) == 1 else None, configs[0] if configs else None


def _is_document(found: Any) -> bool:
    return isinstance(found, Mapping) and "network_type" in found


def _population(found: Any, config: object) -> dict[int, Any] | None:
    """The genomes by id, the fittest first; None if it is no population.

    The lowest fitness is the best where a configuration of 2.1 says so; older ones ignored that.
    """
    if isinstance(found, list | tuple):
        pairs = [entry if isinstance(entry, tuple) else (None, entry) for entry in found]
        genes = [pair[-1] for pair in pairs]
        found = {getattr(one, "key", at): one for at, one in enumerate(genes)}
    if not isinstance(found, Mapping) or not found:
        return None
    if not all(type(key) is int and genomes.is_genome(one) for key, one in found.items()):
        return None
    sign = 1.0 if prefers_low_fitness(config) else -1.0
    ranked = sorted(found.items(), key=lambda item: genomes.rank_of(item[1], sign))
    return dict(ranked)


def _single(found: Any, config: object, options: ReadOptions) -> Network:
    """The network of a genome, or of a network object."""
    if not genomes.is_genome(found):
        return _network(live.to_document(found, options.version), config, options)
    timed = options.time_step is not None or options.advance_time is not None
    version = parsed_version(options.version)
    settings = settings_of(config)
    document = genomes.to_document(found, settings, timed=timed, version=version)
    if document["network_type"] == "ctrnn":
        library_version = live.version_of(found, options.version, settings.version)
        document["metadata"] = {"neat_python_version": library_version}
    try:
        return _document(document, options)
    except NetworkError as error:
        key = getattr(found, "key", None)
        where = f"genome {key}" + (f", {error.where}" if error.where else "")
        raise NetworkError(error.message, where=where, hint=error.hint) from error


def _network(document: Mapping[str, Any], config: object, options: ReadOptions) -> Network:
    """The network of a document that is no genome's: it needs no configuration."""
    kind = document.get("network_type")
    if config is not None:
        raise OptionError("config is for genomes; this is a network", where="config")
    if options.version is not None and kind != "ctrnn":
        what = f"version is for genomes and ctrnn networks; this is of the type {shown(kind)}"
        raise OptionError(what, where="version")
    return _document(document, options)


def _document(document: Mapping[str, Any], options: ReadOptions) -> Network:
    version = parsed_version(options.version)
    if version and document.get("network_type") == "ctrnn":
        document = {**document, "metadata": {"neat_python_version": options.version}}
    return kinds.read(document, Times(options.time_step, options.advance_time))
