"""What a configuration of neat-python, and its version, say of how a genome computes."""

import configparser
import os
import re
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neat_onnx.arguments import is_whole, shown
from neat_onnx.errors import DocumentError, OptionError, warn
from neat_onnx.files import read_bytes
from neat_onnx.libraries.genome_graph import Edge, completed
from neat_onnx.libraries.neat_python.functions import Role
from neat_onnx.libraries.neat_python.pickled import number

Version = tuple[int, int]

FIRST_STABLE: Version = (1, 0)
"""From here on a node without inputs is evaluated; in 1.0 only what the inputs lead to."""
NEWER: Version = (1, 1)
EXPONENTIAL: Version = (2, 1)
"""From here on a ctrnn is integrated by the exponential Euler method."""
OLD: Version = (0, 92)
FIRST_INNOVATION = 1_000_000_000
"""Of written genes: beyond the numbers that a fresh innovation tracker gives to new ones."""


def parsed_version(text: object) -> Version | None:
    """Return the first two numbers of a version that a caller gives; None for None."""
    if text is None:
        return None
    pattern = re.compile(r"(\d{1,9})\.(\d{1,9})[\w.+-]{0,40}", re.ASCII)
    found = pattern.fullmatch(text) if isinstance(text, str) else None
    if not found:
        raise OptionError(
            f"{text!r:.40} is not a version of neat-python",
            where="version",
            hint="Give it as text, such as '1.0.0' or '2.1.0'",
        )
    return int(found[1]), int(found[2])


def installed() -> Version | None:
    """Return the version of the neat-python that is imported; None if none is."""
    module = sys.modules.get("neat")
    return None if module is None else parsed_version(getattr(module, "__version__", "0.92"))


def versions_of_genes(
    nodes: Iterable[Any], connections: Iterable[Any], config: Version | None
) -> tuple[Version, Version]:
    """Return the version by which a genome is evaluated, and the oldest one that it may be of.

    Connections have numbers of innovation from 1.0 on, nodes have time constants from 2.0 on. Both
    are in genomes that are written here for any version, with numbers from `FIRST_INNOVATION` on,
    also where 0.92 evolved them on.

    Args:
        nodes, connections: the genes, live or pickled.
        config: the version that their Config tells.
    """
    numbers = [number(getattr(gene, "innovation", None)) for gene in connections]
    has_numbers = any(isinstance(n, int) and n < FIRST_INNOVATION for n in numbers)
    has_times = any(hasattr(node, "time_constant") for node in nodes)
    if config is not None:
        version = NEWER if has_numbers and config == OLD else config
        return version, version
    lacks_some = None in numbers and any(n is not None for n in numbers)
    is_old = not has_numbers and (lacks_some or (None in numbers and not has_times))
    if has_times and (has_numbers or not numbers):
        return NEWER, NEWER
    return OLD if is_old else NEWER, FIRST_STABLE if has_numbers else OLD


_MAX_KEYS = 100_000
_FUNCTIONS: dict[Role, str] = {
    "activation": "activation_defs",
    "aggregation": "aggregation_function_defs",
}
"""The attributes of a genome_config that hold functions."""
_OF_2_1 = "compatibility_include_node_genes"
"""An item of configurations that came with 2.1."""
_GIVE = (
    "Give the file, such as config-feedforward (--config), or inputs and outputs (--inputs N "
    "--outputs M)"
)
_INI = (
    "Give the INI file that the genome evolved with, in UTF-8: its section [DefaultGenome] has "
    "num_inputs, num_outputs and feed_forward"
)


class ConfigurationNeeded(OptionError):
    """A genome came without its configuration; the page asks for it by this name."""


@dataclass(frozen=True)
class Settings:
    """The part of a configuration that says how a genome computes.

    Attributes:
        inputs, outputs: the keys of the nodes, in the order of the values.
        feed_forward: whether its networks are feed-forward.
        functions: activations and aggregations by name, as the configuration holds them; empty
            for an INI file, which only names them.
        version: of neat-python, as far as a Config tells it; None for an INI file.
        prefers_low: whether the lowest fitness is the best; older versions than 2.1 ignored that.
    """

    inputs: list[int]
    outputs: list[int]
    feed_forward: bool
    functions: Mapping[Role, Mapping[str, Any]] = field(default_factory=dict)
    version: Version | None = None
    prefers_low: bool = False


def settings_for(
    nodes: Collection[int],
    edges: Sequence[Edge],
    config: object,
    inputs: int | None = None,
    outputs: int | None = None,
) -> Settings:
    """Return the settings by which a genome with these keys of nodes and connections computes.

    Without a configuration they are the given counts, or those that the genome seems to have.
    """
    if config is not None:
        if inputs is not None or outputs is not None:
            warn("the configuration says how many inputs and outputs there are: yours are ignored")
        return settings_of(config)
    for name, count in (("inputs", inputs), ("outputs", outputs)):
        if count is not None and not (is_whole(count) and 0 < count <= _MAX_KEYS):
            raise OptionError(f"{name} is {shown(count)}, expected a positive integer", where=name)
    seems = likely_counts(nodes, edges)
    counts = inputs or seems[0], outputs or seems[1]
    if not counts[0]:
        text = "a genome does not say its inputs and outputs: its configuration is needed"
        raise ConfigurationNeeded(text, where="config", hint=_GIVE)
    sources: dict[int, list[int]] = {key: [] for key in nodes}
    for edge in edges:
        if edge.enabled and edge.source in sources:
            sources.setdefault(edge.target, []).append(edge.source)
    free = [key for key, found in sources.items() if not found]
    feed_forward = completed(free, sources) >= sources.keys()
    kind = "feed-forward" if feed_forward else "recurrent"
    warn(
        f"the genome came without its configuration: read as a {kind} network of {counts[0]} "
        f"inputs and {counts[1]} outputs. If it is none, give config (--config), or inputs and "
        "outputs (--inputs, --outputs)"
    )
    return Settings([-1 - i for i in range(counts[0])], list(range(counts[1])), feed_forward)


def likely_counts(nodes: Collection[int], edges: Sequence[Edge]) -> tuple[int, int]:
    """Return how many inputs and outputs a genome seems to have.

    Inputs have negative keys. Outputs have the lowest of the others, from 0 on; nothing reads them
    where a network is feed-forward, or at least not the first of them.
    """
    read = {edge.source for edge in edges if edge.source != edge.target}
    outputs = 1
    while outputs in nodes and outputs not in read:
        outputs += 1
    return max([0, *(-edge.source for edge in edges)]), outputs


def settings_of(config: object) -> Settings:
    """Return the settings in a configuration: a path, INI text, bytes, or a Config."""
    is_text = isinstance(config, bytes | bytearray | memoryview | str | os.PathLike)
    return parsed_ini(*text_of(config))[2] if is_text else _from_config(config)


def text_of(config: Any) -> tuple[str, str]:
    """Return the INI text of a path, bytes, text or a live Config, and its place for errors."""
    where = "config"
    if isinstance(config, str) and "\n" in config:
        return config, where
    if isinstance(config, bytes | bytearray | memoryview):
        data = bytes(config)
    elif isinstance(config, str | os.PathLike):
        data, where = read_bytes(config), os.fspath(config)
    elif hasattr(config, "genome_config") and callable(getattr(config, "save", None)):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "config")
            config.save(path)
            data = read_bytes(path)
    else:
        raise _no_configuration(config)
    try:
        return data.decode("utf-8-sig"), where
    except UnicodeDecodeError as error:
        what = "the configuration is not text in UTF-8"
        raise DocumentError(what, where=where, hint=_INI) from error


def _no_configuration(config: object) -> OptionError:
    what = f"a {type(config).__name__} is not a configuration of neat-python"
    return OptionError(what, where="config", hint=_GIVE)


def parsed_ini(text: str, where: str) -> tuple[configparser.RawConfigParser, str, Settings]:
    """Return a configuration, the name of its section of genomes, and its settings."""
    ini = configparser.RawConfigParser()
    try:
        ini.read_string(text)
        sections = [name for name in ini.sections() if ini.has_option(name, "num_inputs")]
        if not sections:
            raise ValueError("no section has num_inputs")
        inputs, outputs = (ini.getint(sections[0], f"num_{x}puts") for x in ("in", "out"))
        if not (0 <= inputs <= _MAX_KEYS and 0 <= outputs <= _MAX_KEYS):
            raise ValueError(f"num_inputs and num_outputs go up to {_MAX_KEYS}")
        feed_forward = ini.getboolean(sections[0], "feed_forward")
    except (configparser.Error, ValueError) as error:
        what = f"not a configuration of neat-python: {' '.join(str(error).split())}"
        raise DocumentError(what, where=where, hint=_INI) from None
    is_low = ini.get("NEAT", "fitness_criterion", fallback="max").strip() == "min"
    settings = Settings(
        [-1 - i for i in range(inputs)],
        list(range(outputs)),
        feed_forward,
        prefers_low=is_low and ini.has_option(sections[0], _OF_2_1),
    )
    return ini, sections[0], settings


def _from_config(config: Any) -> Settings:
    """The settings of a Config, or of its genome_config, live or from a pickle."""
    genome = getattr(config, "genome_config", config)
    try:
        ends, feed_forward = (genome.input_keys, genome.output_keys), genome.feed_forward
    except AttributeError:
        raise _no_configuration(config) from None
    for keys in ends:
        if not isinstance(keys, list | tuple) or not all(type(key) is int for key in keys):
            raise OptionError("the keys of inputs and outputs are not integers", where="config")
    version = _version_of(config, genome)
    is_low = getattr(config, "fitness_criterion", None) == "min"
    return Settings(
        list(ends[0]),
        list(ends[1]),
        feed_forward is True,
        {kind: _functions(genome, name) for kind, name in _FUNCTIONS.items()},
        version,
        is_low and version >= EXPONENTIAL,
    )


def _version_of(config: Any, genome: Any) -> Version:
    """The oldest version whose Config looks like this one."""
    if not hasattr(genome, "innovation_tracker"):
        return OLD
    if hasattr(genome, _OF_2_1):
        return EXPONENTIAL
    return NEWER if config is genome or hasattr(config, "seed") else FIRST_STABLE


def _functions(genome: Any, name: str) -> Mapping[str, Any]:
    found = getattr(getattr(genome, name, None), "functions", {})
    return found if isinstance(found, Mapping) else {}
