"""Pickles as people make them: containers, compressions, attributes of their own, numbers of numpy.

The installed neat-python writes each file, and computes its outputs.
"""

import bz2
import collections
import datetime
import decimal
import enum
import fractions
import gzip
import json
import lzma
import pathlib
import pickle
import random
import re
import tempfile
import uuid
import zlib

import neat
import numpy as np

RECORDED = json.loads((pathlib.Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))


class Colour(enum.Enum):
    RED = 1


class Trainer:
    """An object of the user's."""

    def __init__(self, **held):
        self.__dict__.update(held)


Point = collections.namedtuple("Point", "x y")
COMPRESSIONS = [bytes, bytes, gzip.compress, bz2.compress, lzma.compress, zlib.compress]
ATTRIBUTES = [
    lambda: collections.deque([1, (2, 3)], 5),
    lambda: datetime.datetime(2026, 1, 2),
    lambda: datetime.timedelta(3),
    lambda: pathlib.PurePosixPath("runs/7"),
    lambda: np.arange(6.0).reshape(2, 3),
    lambda: np.array(["a", None], object),
    lambda: np.zeros(2, [("a", "f4"), ("b", "i2")]),
    lambda: collections.Counter("banana"),
    lambda: collections.defaultdict(list, a=[1]),
    lambda: collections.OrderedDict(a=1),
    lambda: decimal.Decimal("0.1"),
    lambda: fractions.Fraction(1, 3),
    lambda: {(1, (2, (3, 4))): {5, 6}, frozenset([7]): 2**70, Colour.RED: 3j},
    lambda: Trainer(notes=["x"], when=datetime.date(2026, 1, 2)),
    lambda: Point(1, np.float32(2)),
    lambda: random.Random(1),
    lambda: np.random.default_rng(1),
    lambda: uuid.UUID(int=5),
    lambda: "Zürich, 北京",
    lambda: bytearray(b"abc"),
    lambda: range(3),
    lambda: len,
    lambda: Trainer,
]
FITNESSES = [
    *(np.dtype(code).type for code in "efdg?bBhHiIqQ"),
    *(float, int, decimal.Decimal, fractions.Fraction, complex),
    *(lambda value: None, np.array, lambda value: np.array([value])),
    *(lambda value: np.array([[value, value]]), datetime.timedelta),
]
GENES = [float, float, np.float64, np.array, lambda value: np.array([value])]


def statistics_of(genome):
    found = neat.StatisticsReporter()
    found.most_fit_genomes = [genome]
    return found


def network_of(genome, config):
    return neat.nn.FeedForwardNetwork.create(genome, config)


CONTAINERS = {
    "genome": lambda g, c, p: g,
    "pair": lambda g, c, p: (g, c),
    "other pair": lambda g, c, p: [c, g],
    "with more": lambda g, c, p: (3.5, g, "text", c),
    "dictionary": lambda g, c, p: {"winner": g, "config": c, "date": datetime.date(2026, 1, 2)},
    "deep": lambda g, c, p: {"runs": [{"best": (1, {"genome": g})}, [c]]},
    "object": lambda g, c, p: Trainer(best=g, settings=c, path=pathlib.PurePosixPath("a")),
    "statistics": lambda g, c, p: statistics_of(g),
    "dictionary of statistics": lambda g, c, p: {"stats": statistics_of(g), "config": c},
    "deque": lambda g, c, p: collections.deque([g, c]),
    "network": lambda g, c, p: network_of(g, c),
    "network in a dictionary": lambda g, c, p: {"net": network_of(g, c), "config": c},
    "genome beside its network": lambda g, c, p: {"net": network_of(g, c), "g": g, "c": c},
    "winner beside its population": lambda g, c, p: {"winner": g, "pop": p.population, "c": c},
    "population": lambda g, c, p: p.population,
    "list": lambda g, c, p: list(p.population.values()),
    "Population": lambda g, c, p: p,
    "Population in a dictionary": lambda g, c, p: {"population": p, "generation": 26},
    "checkpoint": lambda g, c, p: (3, c, p.population, p.species, random.getstate()),
}
OF_POPULATIONS = list(CONTAINERS)[14:]


def population_of(seed):
    """A population after some mutations, with its configuration."""
    random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "config")
        (case,) = (case for case in RECORDED["cases"] if case["name"] == "ff-messy0-2.0.0")
        text = RECORDED["configs"][case["config"]]
        text = re.sub("pop_size.*", "pop_size = 5", text).replace(" elu lelu selu", "")
        path.write_text(text, encoding="utf-8")
        kinds = (neat.DefaultReproduction, neat.DefaultSpeciesSet, neat.DefaultStagnation)
        config = neat.Config(neat.DefaultGenome, *kinds, str(path))
    population = neat.Population(config)
    for genome in population.population.values():
        for _ in range(10):
            genome.mutate(config.genome_config)
    return population, config, text


def cases(count, seed=0):
    """Yield descriptions, files, INI texts or None, and the library's outputs by genome id."""
    pick = random.Random(seed)
    names = list(CONTAINERS)
    for at in range(count):
        population, config, text = population_of(seed + at)
        genome = pick.choice(list(population.population.values()))
        inputs = [[pick.uniform(-2, 2) for _ in config.genome_config.input_keys] for _ in range(4)]
        name = names[at % len(names)]
        held = population.population if name in OF_POPULATIONS else {0: genome}
        outputs = {
            key: [network_of(one, config).activate(row) for row in inputs]
            for key, one in held.items()
        }
        kind, gene_kind = pick.choice(FITNESSES), pick.choice(GENES)
        if "network" in name:  # neat-python 0.92 formats the weights
            gene_kind = float
        for place, one in enumerate(population.population.values()):
            one.fitness = kind(place % 2)
            one.own = pick.choice(ATTRIBUTES)()
            for node in one.nodes.values():
                node.activation = np.str_(node.activation) if at % 2 else node.activation
                node.bias = gene_kind(node.bias)
            for gene in one.connections.values():
                gene.weight = gene_kind(gene.weight)
                gene.enabled = np.bool_(gene.enabled) if at % 3 else gene.enabled
        found = CONTAINERS[name](genome, config, population)
        protocol = pick.randrange(pickle.HIGHEST_PROTOCOL + 1)
        data = pickle.dumps(found, protocol)
        if name == "genome" and at % 2:
            data += pickle.dumps(config, protocol)  # two pickles in one file
            text = None
        how = pick.choice(COMPRESSIONS)
        words = (
            f"{name}, protocol {protocol}, {how.__module__}, {kind}, {type(genome.own).__name__}"
        )
        yield words, how(data), text, inputs, outputs
