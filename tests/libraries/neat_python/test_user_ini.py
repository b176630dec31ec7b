"""Evolving on with one's own configuration: every rate kept, each change named."""

import configparser
import pickle
import random
import warnings

import neat
import numpy as np
import pytest
from pickle_cases import network_of, population_of

import neat_onnx
from neat_onnx import DocumentError, Network, OptionError, load_network, neat_population

OPTIONAL = ("init_type", "rate_to_", "_default", "single_", "surer", "initial_", "species_elitism")
OPTIONAL = (*OPTIONAL, "no_fitness", "max_stagnation", "survival", "min_species", "species_fitness")


def in_the_style_of_0_92(text, seed):
    """The INI with other rates, and without some of the items that 0.92 does not ask for."""
    pick, lines = random.Random(seed), []
    for line in text.splitlines():
        key = line.partition(" = ")[0]
        if any(part in key for part in OPTIONAL) and "enabled_default" not in key:
            lines += [line] if pick.random() < 0.4 else []
        elif key.endswith(("_rate", "_prob", "_power")):
            lines.append(f"{key}: {pick.uniform(0.1, 0.5):.3f}")
        else:
            lines.append(line)
    return "\n".join(["# my run", *lines, ""])


def items(text):
    ini = configparser.RawConfigParser()
    ini.read_string(text)
    return {(name, key): value for name in ini.sections() for key, value in ini.items(name)}


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("seed", range(6))
def test_a_genome_evolves_on_with_its_own_rates(seed, tmp_path):
    population, config, text = population_of(seed)
    genome = next(iter(population.population.values()))
    old = in_the_style_of_0_92(text, seed)
    net = load_network(pickle.dumps(genome), old)
    net.save(tmp_path / "back.pkl", config=old)
    new = (tmp_path / "back.ini").read_text()
    for place, value in items(old).items():
        kept = items(new)[place]
        if place[1].endswith("_options"):
            assert set(value.split()) <= set(kept.split())
        else:
            assert kept == value or place[1].endswith("_default"), place
    seeded = neat_population([net], tmp_path / "back.ini")
    first = next(iter(seeded.population.values()))
    x = [[0.5, -0.25, 1.0]]
    want = network_of(genome, config).activate(x[0])
    np.testing.assert_allclose(network_of(first, seeded.config).activate(x[0]), want, 1e-12)

    def fitness(genomes, config):
        for _, one in genomes:
            one.fitness = float(len(one.connections))

    seeded.run(fitness, 10)


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
def test_each_change_is_named_and_functions_of_the_user_are_kept():
    _, config, text = population_of(1)
    net = Network.mlp([2, 2, 1], activation="neat_tanh", seed=0)
    text = text.replace(" tanh", "").replace("single_structural_mutation = false\n", "")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, fitted = neat_onnx.to_neat_python(net, config=text)
    told = " ".join(str(warning.message) for warning in caught)
    assert "num_inputs 3 is 2; num_outputs 2 is 1" in told
    assert "single_structural_mutation = false" in told
    assert fitted.genome_config.activation_options[-1] == "tanh"
    config.genome_config.add_activation("mine", lambda z: z)
    _, fitted = neat_onnx.to_neat_python(net, config=config)
    assert fitted.genome_config.activation_defs.get("mine")(2.0) == 2.0


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
def test_populations_and_configurations_that_do_not_fit_are_refused():
    _, _, text = population_of(1)
    one, other = Network.mlp([3, 2], seed=0, activation="relu"), Network.mlp([2, 2], seed=0)
    with pytest.raises(OptionError, match="num_inputs is 2, of the first network 3"):
        neat_population([one, other], text)
    with pytest.raises(OptionError, match="a population needs a network"):
        neat_population([], text)
    with pytest.raises(DocumentError, match="not a configuration"):
        neat_onnx.to_neat_python(one, config="[NEAT]\n")
    with pytest.raises(OptionError, match="a dict is not a configuration"):
        neat_onnx.to_neat_python(one, config={})
    with pytest.raises(OptionError, match="config is not for"):
        one.save("net.json", library="neat-python", config=text)


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
def test_a_live_genome_is_evaluated_by_the_version_that_is_installed(monkeypatch):
    """Genes that this package writes have marks of newer versions, which 0.92 keeps."""
    net = Network.mlp([2, 1], activation="neat_tanh", seed=0)
    genome, config = neat_onnx.to_neat_python(net)
    genome.connections.clear()
    newer = load_network((genome, config)).activate([1.0, 2.0])
    monkeypatch.delattr(neat, "__version__", raising=False)
    older = load_network((genome, config)).activate([1.0, 2.0])
    assert newer != 0.0 and older == 0.0
    genome, _ = neat_onnx.to_neat_python(net)
    assert not any(hasattr(gene, "innovation") for gene in genome.connections.values())
