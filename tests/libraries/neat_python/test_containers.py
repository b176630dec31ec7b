"""The objects that people pickle around a genome, by neat-python itself."""

import pickle

import neat
import pytest

from neat_onnx import DocumentError, Network, load_network, load_networks, to_neat_python

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")


@pytest.fixture(scope="module")
def evolved():
    """A genome, its configuration, its population and the statistics."""
    net = Network.mlp([2, 3, 1], activation="neat_tanh", seed=1)
    genome, config = to_neat_python(net)
    population = neat.Population(config)
    statistics = neat.StatisticsReporter()
    genome.fitness, population.population = 2.0, {1: genome}
    statistics.most_fit_genomes = [genome]
    return net, genome, config, population, statistics


CONTAINERS = {
    "pair": lambda genome, config: (genome, config),
    "pair the other way round": lambda genome, config: [config, genome],
    "dictionary": lambda genome, config: {"genome": genome, "config": config},
    "with the fitness": lambda genome, config: (genome, config, 3.5),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_genome_beside_its_configuration_is_found(name, evolved):
    net, genome, config, *_ = evolved
    held = CONTAINERS[name](genome, config)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        read = load_network(pickle.dumps(held, protocol))
        assert sorted(read.connections.weight) == sorted(net.connections.weight)


def test_a_pickled_population_holds_its_configuration(evolved):
    _, _, config, population, statistics = evolved
    assert list(load_networks(pickle.dumps(population))) == [1]
    for best in (statistics.best_unique_genomes(1), statistics):
        assert list(load_networks(pickle.dumps(best), config=config)) == [0]


def test_what_holds_no_network_says_what_to_pickle(evolved):
    _, _, config, population, _ = evolved
    holds = {"Config": config, "ReporterSet": population.reporters, "list": [], "None": None}
    for name, value in holds.items():
        with pytest.raises(DocumentError, match=f"{name} is not a network") as refused:
            load_network(pickle.dumps(value), config=config)
        assert "stats.best_genome()" in (refused.value.hint or "")
