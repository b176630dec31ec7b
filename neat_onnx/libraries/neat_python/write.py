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

from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.libraries.neat_python.draft import genes_of
from neat_onnx.libraries.neat_python.genes import KINDS, Genes, NodeGene
from neat_onnx.libraries.neat_python.ini import ini_text
from neat_onnx.libraries.neat_python.settings import (
    EXPONENTIAL,
    FIRST_INNOVATION,
    OLD,
    installed,
    parsed_version,
    text_of,
)
from neat_onnx.network.network import Network


def _genome_of(net: Network, time_step: float | None) -> Genes:
    """The genes of a network as a genome has them: each key that is named has a node."""
    genes = genes_of(net, time_step)
    inputs, outputs = len(genes.inputs), len(genes.outputs)
    if (genes.inputs, genes.outputs) != ([-1 - i for i in range(inputs)], [*range(outputs)]):
        text = "a genome of neat-python has the inputs -1, -2, … and the outputs 0, 1, …"
        raise NetworkError(text, hint="Save it as JSON, which has keys of any kind")
    genes.nodes += [NodeGene(key) for key in genes.missing(strict=False)]
    return genes


def files_of(
    net: Network, name: str, config: object = None, time_step: float | None = None
) -> dict[str, bytes]:
    """Return the files of a genome that evolves on: `winner.pkl`, and `winner.ini` beside it."""
    genes = _genome_of(net, time_step)
    text = ini_text(genes, None if config is None else text_of(config))
    return {Path(name).stem + ".ini": text.encode(), name: _pickled(genes)}


def live_genome(net: Network, time_step: float | None, config: object) -> tuple[Any, Any]:
    """Return a live genome and its configuration. See `neat_python.to_neat_python`."""
    genes, neat, version = _genome_of(net, time_step), _neat(), installed() or OLD
    of_genes = parsed_version(genes.version) or OLD
    if genes.kind == "ctrnn" and (of_genes < EXPONENTIAL) != (version < EXPONENTIAL):
        raise NetworkError(
            f"the network is integrated as by neat-python {genes.version}; "
            f"{version[0]}.{version[1]} is installed, which integrates in another way",
            hint="Save it as JSON or .pkl for the other version",
        )
    text = ini_text(genes, None if config is None else text_of(config))
    genome = neat.iznn.IZGenome if genes.kind == "iznn" else neat.DefaultGenome
    others = (neat.DefaultReproduction, neat.DefaultSpeciesSet, neat.DefaultStagnation)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config")
        Path(path).write_text(text, encoding="utf-8")
        settings = neat.Config(genome, *others, path)
    for name in ("activation_defs", "aggregation_defs", "aggregation_function_defs"):
        own = getattr(getattr(config, "genome_config", None), name, None)
        if own is not None:
            setattr(settings.genome_config, name, own)  # with the functions that the user added
    return pickle.loads(_pickled(genes, marked=version > OLD)), settings


def population_of(genomes: Sequence[tuple[Any, Any]]) -> Any:
    """Return a population of live genomes and their configurations. See `neat_population`."""
    if not genomes:
        raise OptionError("a population needs a network to begin with", where="nets")
    seeds, settings = [genome for genome, _ in genomes], genomes[0][1]
    shared = settings.genome_config
    for at, (_, config) in enumerate(genomes):
        for name in ("num_inputs", "num_outputs", "feed_forward"):
            one, other = getattr(shared, name), getattr(config.genome_config, name)
            if one != other:
                what = f"{name} is {other}, of the first network {one}"
                raise OptionError(what, where=f"nets[{at}]")
        for name in ("activation_options", "aggregation_options"):
            if hasattr(shared, name):  # nodes that spike have none
                options = [*getattr(shared, name), *getattr(config.genome_config, name)]
                setattr(shared, name, list(dict.fromkeys(options)))
    population = _neat().Population(settings)
    numbers: dict[Any, int] = {}
    for gene in (gene for seed in seeds for gene in seed.connections.values()):
        if hasattr(gene, "innovation"):
            gene.innovation = numbers.setdefault(gene.key, FIRST_INNOVATION + len(numbers))
    shared.node_indexer = count(max((key for seed in seeds for key in seed.nodes), default=0) + 1)
    for at, key in enumerate(population.population):
        genome = copy.deepcopy(seeds[at % len(seeds)])
        genome.key = key
        if at >= len(seeds):
            genome.mutate(shared)
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
        if genes.kind != "iznn":
            numbers = {"response": node.response, **numbers}
            numbers |= {"time_constant": numbers.get("time_constant", 1.0)} if marked else {}
        functions = {role: getattr(node, role).name for role in kind.functions}
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
