"""Networks for neat-python: the JSON that it exports, and genomes that evolve on.

A genome is a pickle of three classes, which need not be importable to write one.
"""

import copy
import io
import os
import pickle
import tempfile
from collections.abc import Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.neat_python.draft import genes_of, numbered
from neat_onnx.libraries.neat_python.genes import KINDS, Genes, document_of_genes
from neat_onnx.libraries.neat_python.ini import ini_text
from neat_onnx.libraries.neat_python.settings import (
    EXPONENTIAL,
    FIRST_INNOVATION,
    OLD,
    Version,
    installed,
    parsed_version,
    text_of,
)
from neat_onnx.libraries.neat_python.timed import timed_genes
from neat_onnx.network.network import Network


def document_of(net: Network) -> dict[str, Any]:
    """Return the JSON that neat-python exports of a network."""
    return document_of_genes(_any_genes_of(net, None))


def _any_genes_of(net: Network, time_step: float | None) -> Genes:
    """The genes of a network of any kind."""
    genes = timed_genes(net, time_step)
    if genes is None:
        return genes_of(net)
    how = "advance(inputs, {1!r}, {0!r})" if genes.kind == "ctrnn" else "advance({0!r})"
    warn(
        f"written as {genes.kind} of neat-python {genes.version}, a step of which is "
        + how.format(genes.time_step, genes.advance_time)
    )
    return genes


def files_of(
    net: Network, name: str, config: object = None, time_step: float | None = None
) -> dict[str, bytes]:
    """Return the files of a genome that evolves on: `winner.pkl`, and `winner.ini` beside it."""
    genes = numbered(_any_genes_of(net, time_step))
    text = ini_text(genes, None if config is None else text_of(config))
    return {Path(name).stem + ".ini": text.encode(), name: _pickled(genes)}


def to_neat_python(
    net: Network, time_step: float | None = None, config: object = None
) -> tuple[Any, Any]:
    """Return a live genome and its configuration. See `neat_python.to_neat_python`."""
    genes = numbered(_any_genes_of(net, time_step))
    neat = _neat()
    version = installed() or OLD
    _check_version(genes, version)
    settings = _config(neat, genes, config, version)
    return pickle.loads(_pickled(genes, marked=version > OLD)), settings


def neat_population(nets: Sequence[Network], config: object) -> Any:
    """Return a population of these networks. See `neat_python.neat_population`."""
    neat = _neat()
    found = [to_neat_python(net, config=config) for net in nets]
    if not found:
        raise OptionError("a population needs a network to begin with", where="nets")
    settings = found[0][1]
    shape = ("num_inputs", "num_outputs", "feed_forward")
    for at, (_, own) in enumerate(found):
        for name in shape:
            one, other = (getattr(c.genome_config, name) for c in (settings, own))
            if one != other:
                raise OptionError(
                    f"{name} is {other}, of the first network {one}", where=f"nets[{at}]"
                )
        for name in ("activation_options", "aggregation_options"):
            options = [*getattr(settings.genome_config, name), *getattr(own.genome_config, name)]
            setattr(settings.genome_config, name, list(dict.fromkeys(options)))
    population = neat.Population(settings)
    seeds = [genome for genome, _ in found]
    numbers: dict[Any, int] = {}
    for gene in (gene for seed in seeds for gene in seed.connections.values()):
        if hasattr(gene, "innovation"):
            gene.innovation = numbers.setdefault(gene.key, FIRST_INNOVATION + len(numbers))
    nodes = [key for seed in seeds for key in seed.nodes]
    settings.genome_config.node_indexer = count(max(nodes, default=0) + 1)
    for at, key in enumerate(population.population):
        genome = copy.deepcopy(seeds[at % len(seeds)])
        genome.key = key
        if at >= len(seeds):
            genome.mutate(settings.genome_config)
        population.population[key] = genome
    population.species.speciate(settings, population.population, population.generation)
    return population


def _neat() -> Any:
    try:
        import neat  # noqa: PLC0415 - the user's, if there is one
    except ImportError as error:
        raise OptionError(
            "neat-python is not installed", hint="Install it: pip install neat-python"
        ) from error
    return neat


def _config(neat: Any, genes: Genes, config: object, version: Version) -> Any:
    """The live configuration of a genome: the user's own, fitted to it, or one of usual rates."""
    kinds = [neat.DefaultGenome, neat.DefaultReproduction, neat.DefaultSpeciesSet]
    kinds.append(neat.DefaultStagnation)
    if genes.kind == "iznn":
        kinds[0] = neat.iznn.IZGenome
    text = ini_text(genes, None if config is None else text_of(config), version)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config")
        Path(path).write_text(text, encoding="utf-8")
        found = neat.Config(*kinds, path)
    for name in ("activation_defs", "aggregation_defs", "aggregation_function_defs"):
        own = getattr(getattr(config, "genome_config", None), name, None)
        if own is not None:
            setattr(found.genome_config, name, own)  # with the functions that the user added
    return found


def _check_version(genes: Genes, found: Version) -> None:
    """Refuse a ctrnn that the installed neat-python integrates in another way."""
    wanted = parsed_version(genes.version) or OLD
    if genes.kind == "ctrnn" and (wanted < EXPONENTIAL) != (found < EXPONENTIAL):
        raise NetworkError(
            f"the network is integrated as by neat-python {genes.version}; "
            f"{found[0]}.{found[1]} is installed, which integrates in another way",
            hint="Save it as JSON or .pkl for the other version",
        )


_Pickler: Any = pickle._Pickler


class _ByName(_Pickler):  # type: ignore[misc]
    """Pickles instances of classes that need not be importable here."""

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write the name of a class."""
        self.write(f"c{obj.__module__}\n{obj.__name__}\n".encode())
        self.memoize(obj)


@cache
def _class(name: str) -> type[Any]:
    module, _, own = name.rpartition(".")
    return type(own, (), {"__module__": module})


def _instance(kind: str, **attributes: Any) -> Any:
    one = _class(kind)()
    vars(one).update(attributes)
    return one


def _pickled(genes: Genes, marked: bool = True) -> bytes:
    """The pickle of a DefaultGenome or an IZGenome, protocol 2.

    `marked` genes have the attributes that came after 0.92, which ignores them.
    """
    kind, written, connections = KINDS[genes.kind], io.BytesIO(), {}
    nodes = {}
    for node in genes.nodes:
        numbers = {"bias": node.bias, **node.numbers}
        functions = {}
        if genes.kind != "iznn":
            numbers = {"response": node.response, **numbers}
            numbers |= {"time_constant": numbers.get("time_constant", 1.0)} if marked else {}
            functions = {
                "activation": node.activation.name,
                "aggregation": node.aggregation.name,
            }
        nodes[node.key] = _instance(kind.node, key=node.key, **numbers, **functions)
    for at, gene in enumerate(genes.connections):
        connections[gene.source, gene.target] = _instance(
            "neat.genes.DefaultConnectionGene",
            key=(gene.source, gene.target),
            weight=gene.weight,
            enabled=gene.enabled,
            **({"innovation": FIRST_INNOVATION + at} if marked else {}),
        )
    genome = _instance(kind.genome, key=1, connections=connections, nodes=nodes, fitness=None)
    _ByName(written, 2).dump(genome)
    return written.getvalue()
