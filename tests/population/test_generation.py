"""A generation of live genomes of neat-python, against neat-python's own networks."""

import random
from copy import deepcopy

import neat
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.harness.sweep import count

import neat_onnx
from neat_onnx import Network, NetworkError, Population
from neat_onnx.libraries.neat_python.functions import ACTIVATION_NAMES, AGGREGATION_NAMES
from neat_onnx.libraries.neat_python.generation import generation_of
from neat_onnx.libraries.neat_python.settings import settings_of
from neat_onnx.network.expression import sin

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")


def generation(seed: int, feed_forward: bool, size: int = 12):
    """Genomes mutated by neat-python, of all of its functions, with their configuration."""
    genome, config = neat_onnx.to_neat_python(Network.mlp([3, 2, 2], activation="neat_tanh"))
    own = config.genome_config
    own.feed_forward = feed_forward
    own.activation_options, own.aggregation_options = (
        list(ACTIVATION_NAMES),
        list(AGGREGATION_NAMES),
    )
    own.activation_mutate_rate = own.aggregation_mutate_rate = 0.3
    own.response_mutate_rate, own.response_mutate_power = 0.3, 0.3
    own.enabled_mutate_rate = 0.1
    own.node_add_prob = own.conn_add_prob = 0.7
    own.innovation_tracker = neat.InnovationTracker()
    random.seed(seed)
    found = []
    for key in range(1, size + 1):
        child = deepcopy(genome)
        child.key = key
        for _ in range(random.randrange(12)):
            child.mutate(own)
        found.append((key, child))
    return found, config


def peer_of(genome, config):
    kind = (
        neat.nn.FeedForwardNetwork
        if config.genome_config.feed_forward
        else neat.nn.RecurrentNetwork
    )
    return kind.create(genome, config)


def outputs_of(peer, rows):
    try:
        return [list(peer.activate(row)) for row in rows.tolist()]
    except (OverflowError, ValueError):
        return None


@settings(max_examples=count(15, 60), deadline=None)
@given(seed=st.integers(0, 10_000), feed_forward=st.booleans())
def test_genomes_compute_what_neat_python_computes(seed, feed_forward):
    genomes, config = generation(seed, feed_forward)
    assert generation_of([genome for _, genome in genomes], settings_of(config)) is not None
    population = Population.from_neat_python(genomes, config)
    x = np.random.default_rng(seed).normal(size=(4, 1, 3))
    got = population.run(x)[:, :, 0]
    assert got.shape == (4, len(genomes), 2)
    for k, (_, genome) in enumerate(genomes):
        want = outputs_of(peer_of(genome, config), x[:, 0])
        if want is not None and np.max(np.abs(want)) < 1e6:  # products of products are chaotic
            np.testing.assert_allclose(got[:, k], want, rtol=1e-7, atol=1e-7)
        net = neat_onnx.load_network((genome, config))
        np.testing.assert_allclose(got[:, k], net.run(x[:, 0]), rtol=1e-9, atol=1e-9)


def test_genomes_may_be_given_alone_and_exported():
    genomes, config = generation(3, feed_forward=False, size=5)
    for _, genome in genomes:
        for node in genome.nodes.values():
            node.activation, node.aggregation = "tanh", "sum"
    population = Population.from_neat_python([genome for _, genome in genomes], config)
    other = Population.from_neat_python(dict(genomes), config)
    x = np.random.default_rng(0).normal(size=(5, 4, 3))
    np.testing.assert_array_equal(population.activate(x), other.activate(x))
    assert len(population) == 5
    assert neat_onnx.validate(neat_onnx.export(population.network)) == []


def cyclic(genome, config):
    hidden = next(key for key in genome.nodes if key > 1)
    for ends in ((0, hidden), (hidden, 0)):
        genome.connections[ends] = gene = neat.genes.DefaultConnectionGene(ends, innovation=99)
        gene.weight, gene.enabled = 1.0, True


def with_own_function(genome, config):
    config.genome_config.add_activation("wave", lambda z: np.sin(z).item())
    genome.nodes[0].activation = "wave"


@pytest.fixture
def wave():
    neat_onnx.register_activation("wave", sin, library="neat-python")
    yield
    neat_onnx.unregister_activation("wave", library="neat-python")


@pytest.mark.parametrize("change", [cyclic, with_own_function])
def test_unusual_genomes_are_read_one_by_one(change, wave):
    genomes, config = generation(5, feed_forward=True, size=4)
    change(genomes[2][1], config)
    members = [genome for _, genome in genomes]
    assert (generation_of(members, settings_of(config)) is None) == (change is cyclic)
    population = Population.from_neat_python(genomes, config)
    x = np.random.default_rng(0).normal(size=(3, 3))
    want = [neat_onnx.load_network((genome, config)).activate(x) for genome in members]
    np.testing.assert_allclose(population.activate(x), want, rtol=1e-12, atol=1e-12)


def test_a_genome_that_is_none_is_named():
    genomes, config = generation(5, feed_forward=True, size=4)
    genomes[2][1].nodes[0].bias = float("nan")
    with pytest.raises(NetworkError, match=r"bias.*genome 3"):
        Population.from_neat_python(genomes, config)
    genomes[2][1].connections[-9, 0] = gene = neat.genes.DefaultConnectionGene(
        (-9, 0), innovation=7
    )
    gene.weight, gene.enabled = 1.0, True
    with pytest.raises(NetworkError, match=r"no node -9.*genome 3"):
        Population.from_neat_python(genomes, config)
    with pytest.raises(NetworkError, match="one network or more"):
        Population.from_neat_python([], config)
    with pytest.raises(neat_onnx.OptionError, match="config"):
        Population.from_neat_python(genomes, None)
