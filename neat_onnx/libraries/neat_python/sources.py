"""Sources of neat-python to networks: JSON, live objects, pickles, checkpoints."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from neat_onnx.errors import DocumentError, NetworkError, OptionError, warn
from neat_onnx.libraries.library import BEST, ReadOptions, no_genome
from neat_onnx.libraries.neat_python import genome as genomes
from neat_onnx.libraries.neat_python import kinds, live
from neat_onnx.libraries.neat_python.contents import Contents, contents_of, is_genome
from neat_onnx.libraries.neat_python.generation import network_of
from neat_onnx.libraries.neat_python.pickled import Record, unpickled
from neat_onnx.libraries.neat_python.printed import is_printed, printed_genome
from neat_onnx.libraries.neat_python.sections import is_configuration
from neat_onnx.libraries.neat_python.settings import prefers_low_fitness, settings_for
from neat_onnx.libraries.neat_python.times import Times
from neat_onnx.libraries.neat_python.versions import installed, parsed_version
from neat_onnx.network.network import Network


def read(content: Any, options: ReadOptions) -> Network:
    """Return the one network of a source. See `NeatPython.read`."""
    if _is_document(content):
        return _network(content, options)
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
        return {0: _network(content, options)}
    found, config = _opened(content, options)
    population = _population(found, options)
    wanted = [*population]
    if options.genome == BEST:
        wanted = wanted[:1]
    elif options.genome is not None:
        wanted = [key for key in wanted if key == options.genome]
        if not wanted:
            raise no_genome(options.genome, population)
    if not found.groups and len(population) == 1 and options.genome is None:
        return {0: _single(found.singles[0], config, options)}
    return {key: _single(population[key], config, options) for key in wanted}


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
            content = content.encode("latin1", errors="replace")  # a pickle of protocol 0 is text
    if isinstance(content, bytes):
        content = unpickled(content, options.max_opcodes)
    found = contents_of(content)
    if not found.singles and not found.groups:
        live.refuse(content)
    return found, found.config if options.config is None else options.config


def _population(found: Contents, options: ReadOptions) -> dict[int, Any]:
    """The genomes by id, the fittest first.

    The lowest fitness is the best where a configuration of 2.1 says so; older ones ignored that.
    The configuration that it evolved with is the better witness of it than the caller's.
    """
    known = options.config if found.config is None else found.config
    return found.by_id(1.0 if prefers_low_fitness(known) else -1.0)


def _is_document(found: Any) -> bool:
    return isinstance(found, Mapping) and "network_type" in found


def _single(found: Any, config: object, options: ReadOptions) -> Network:
    """The network of a genome, or of a network object."""
    if not is_genome(found):
        return _network(live.to_document(found, options.version), options)
    is_given = options.time_step is not None or options.advance_time is not None
    timed = True if is_given else None
    if options.time_step == 0.0:
        options, timed = replace(options, time_step=None), False
    version = parsed_version(options.version)
    if version is None and not isinstance(found, Record):
        version = installed()
    settings = settings_for(found, config, options.inputs, options.outputs)
    if not timed and not isinstance(found, Record):
        quick = network_of(
            found, settings if version is None else replace(settings, version=version)
        )
        if quick is not None:
            return quick
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


def _network(document: Mapping[str, Any], options: ReadOptions) -> Network:
    """The network of a document that is no genome's: it needs no configuration."""
    kind = document.get("network_type")
    unused = ("config", "inputs", "outputs") + (() if kind == "ctrnn" else ("version",))
    for name in unused:
        if getattr(options, name) is not None:
            warn(f"{name} is for genomes; this is a network, which does not need it")
    return _document(document, options)


def _document(document: Mapping[str, Any], options: ReadOptions) -> Network:
    version = parsed_version(options.version)
    if version and document.get("network_type") == "ctrnn":
        document = {**document, "metadata": {"neat_python_version": options.version}}
    return kinds.read(document, Times(options.time_step, options.advance_time))
