"""Genomes without their configuration, their printed text, and the best one of a population."""

import decimal
import pickle

import numpy as np
import pytest
from pickle_cases import network_of, population_of

from neat_onnx import (
    DocumentError,
    NeatOnnxWarning,
    NetworkError,
    OptionError,
    load_network,
    load_networks,
)
from neat_onnx.libraries.neat_python.pickled import unpickled
from neat_onnx.libraries.neat_python.sources import rank_of

PYTHON_2 = (
    b"\x80\x02cneat.genome\nDefaultGenome\n)\x81}(U\x07fitnesscnumpy.core.multiarray\nscalar\n"
    b"cnumpy\ndtype\nU\x02f8K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    b"U\x08\x00\x00\x00\x00\x00\x00\xf8?\x86RU\x05nodes}U\x0bconnections}ub."
)
"""A genome without genes, and its fitness 1.5 of numpy, as Python 2 writes it."""


@pytest.fixture(scope="module")
def evolved():
    """Genomes that read all inputs, a configuration, and inputs with the outputs of each genome."""
    population, config, text = population_of(7)
    for genome in population.population.values():
        for source in config.genome_config.input_keys:
            if (source, 0) not in genome.connections:
                genome.add_connection(config.genome_config, source, 0, 0.5, True, innovation=1)
        genome.fitness = float(genome.key % 4)
    x = np.random.default_rng(0).normal(size=(5, 3))
    return population.population, config, text, x


@pytest.mark.parametrize("printed", [False, True])
def test_the_counts_are_given_or_inferred(evolved, printed, tmp_path):
    genomes, config, _, x = evolved
    for genome in genomes.values():
        path = tmp_path / "winner"
        text = f"Best genome:\n{genome!s}\n\nOutput:\n"
        path.write_bytes(text.encode() if printed else pickle.dumps(genome))
        want = [network_of(genome, config).activate(row) for row in x]
        with pytest.warns(
            NeatOnnxWarning, match=r"read as a \S+ network of 3 inputs and 2 outputs"
        ):
            net = load_network(path, inputs=3, outputs=2)
        np.testing.assert_allclose(net.activate(x), want, 1e-12, 1e-12)
        net = load_network(path, config=evolved[2])
        np.testing.assert_allclose(net.activate(x), want, 1e-12, 1e-12)


def test_a_text_of_two_genomes_is_refused(evolved, tmp_path):
    path = tmp_path / "winners.txt"
    path.write_text("\n".join(map(str, evolved[0].values())))
    with pytest.raises(DocumentError, match="twice"):
        load_network(path)


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
def test_the_best_genome_can_be_asked_for(evolved):
    genomes, _, text, _ = evolved
    first = next(iter(load_networks(pickle.dumps(genomes), text)))
    assert genomes[first].fitness == 3.0
    best = load_network(pickle.dumps(genomes), text, genome="best")
    assert best == load_network(pickle.dumps(genomes), text, genome=first)
    with pytest.raises(OptionError, match="there is no genome 'worst'"):
        load_network(pickle.dumps(genomes), text, genome="worst")


def test_a_configuration_that_does_not_fit_says_the_counts(evolved):
    genomes, _, text, _ = evolved
    genome = next(iter(genomes.values()))
    with pytest.raises(NetworkError) as refused:
        load_network(pickle.dumps(genome), text.replace("num_inputs = 3", "num_inputs = 2"))
    assert "has 2 inputs and 2 outputs; the genome seems to have 3 and" in str(refused.value)


def test_what_a_network_does_not_need_is_a_remark(evolved):
    genomes, config, text, _ = evolved
    network = network_of(next(iter(genomes.values())), config)
    for facts in ({"config": text}, {"inputs": 3}, {"version": "2.0.0"}):
        with pytest.warns(NeatOnnxWarning, match=f"{next(iter(facts))} is for genomes"):
            load_network(pickle.dumps(network), **facts)


def test_counts_that_are_none_are_refused(evolved):
    genome = next(iter(evolved[0].values()))
    for wrong in (0, -1, 1.5, "3"):
        with pytest.raises(OptionError, match="inputs is"):
            load_network(pickle.dumps(genome), inputs=wrong)


def test_a_number_of_python_2_is_a_fitness():
    with pytest.raises(OptionError, match="configuration is needed"):
        load_network(PYTHON_2)
    assert rank_of(unpickled(PYTHON_2), -1.0) == -1.5


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
def test_a_gene_that_is_no_number_is_named(evolved):
    population, _, text = population_of(8)
    genome = next(iter(population.population.values()))
    gene = next(iter(genome.connections.values()))
    gene.weight = decimal.Decimal("0.5")
    with pytest.raises(NetworkError, match=r"weight is an object of decimal\.Decimal, no number"):
        load_network(pickle.dumps(genome), text)
