"""Networks of ctrnn and iznn written for neat-python: its own code computes the same."""

import pickle
import random

import neat
import numpy as np
import pytest
import timed
from support.examples.cases import assert_within, case, cases
from support.harness.playing import played as run
from support.harness.sweep import WHOLE

from neat_onnx import (
    NeatOnnxWarning,
    Network,
    NetworkError,
    export,
    import_model,
    load_model,
    load_network,
    neat_population,
    to_neat_python,
)
from neat_onnx.network.evaluate import evaluate

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")

HERE = [one for one in cases("np-ctrnn", "np-iznn") if one.document["peer_version"] == "2.0.0"]
NEWER = [one for one in cases("np-ctrnn") if one not in HERE]


def times(one):
    """The time step of a case, and the time and the number of its advances in a row."""
    call = one.document["advance"]
    step = call.get("time_step", call.get("dt_msec"))
    return step, call.get("advance_time"), call.get("advances_per_row", 1)


def played(genome, config, one):
    step, advance, count = times(one)
    if advance is not None:
        network = neat.ctrnn.CTRNN.create(genome, config)
        return np.array([network.advance(row.tolist(), advance, step) for row in one.inputs])
    network = neat.iznn.IZNN.create(genome, config)
    network.reset()
    outputs = []
    for row in one.inputs:
        network.set_inputs(row.tolist())
        outputs.append([network.advance(step) for _ in range(count)][-1])
    return np.array(outputs, np.float64)


def through_onnx(net):
    return import_model(load_model(export(net).to_json()))


@pytest.mark.parametrize("one", [*HERE, *NEWER], ids=lambda one: one.name)
def test_it_computes_what_the_peer_computes(one):
    net, got = timed.read(one), timed.ran(one)
    assert_within(got, one.outputs, one.tolerance64)
    assert "spikes" not in one.document or np.sum(got) == sum(one.document["spikes"]) > 0
    steps = slice(0, 60 if len(net) < 500 or WHOLE else 12)  # it computes neuron by neuron
    assert_within(evaluate(net, one.inputs[steps]), one.outputs[steps], one.tolerance64[steps])


@pytest.mark.parametrize("one", [*HERE, *NEWER], ids=lambda one: one.name)
def test_a_network_comes_back_from_a_float32_model(one, tmp_path):
    net = timed.read(one)
    export(net).save(tmp_path / "a.onnx")
    back = import_model(load_model(tmp_path / "a.onnx"))
    back.save(tmp_path / "b.pkl", time_step=times(one)[0])
    step, advance, count = times(one)
    advance = advance or step * count
    version = one.document["peer_version"] if "ctrnn" in one.name else None
    facts = {"time_step": step, "advance_time": advance, "version": version}
    again = load_network(tmp_path / "b.pkl", tmp_path / "b.ini", **facts)
    assert_within(again.run(one.inputs), one.outputs, one.tolerance32)


@pytest.mark.parametrize("one", HERE, ids=lambda one: one.name)
def test_a_genome_computes_what_was_recorded(one):
    net = timed.read(one)
    genome, config = to_neat_python(net if len(net) > 500 else through_onnx(net), times(one)[0])
    assert_within(played(genome, config, one), one.outputs, one.tolerance64)
    disabled = sum(not gene["enabled"] for gene in one.source["connections"])
    assert sum(not gene.enabled for gene in genome.connections.values()) == disabled


@pytest.mark.parametrize("one", [HERE[0], HERE[3], NEWER[1]], ids=lambda one: one.name)
def test_onnxruntime_computes_it_too(one):
    for dtype, tolerance in (("float32", one.tolerance32), ("float64", one.tolerance64)):
        model = export(timed.read(one), dtype=dtype, sequence=dtype == "float32")
        assert_within(run(model, one.inputs[:, None])[:, 0], one.outputs, tolerance)


@pytest.mark.parametrize("one", [*NEWER, case("np-iznn-3")], ids=lambda one: one.name)
def test_its_json_is_read_as_the_same_network(one):
    net = timed.read(one)
    with pytest.warns(NeatOnnxWarning, match="a step of which is advance") as caught:
        document = net.to_library("neat-python")
    assert document["metadata"]["neat_python_version"] == one.document["peer_version"]
    step = 1.0 if one in NEWER else times(one)[0]  # a ctrnn in units of its time step
    advance = round(times(one)[1] / times(one)[0], 9) if one in NEWER else times(one)[2] * step
    told = f"advance(inputs, {advance!r}, {step!r})" if one in NEWER else f"advance({step!r})"
    assert told in str(caught[0].message)
    back = timed.quietly(document, step, advance)
    assert_within(back.run(one.inputs), one.outputs, one.tolerance64)
    assert back.neurons.id.tolist() == net.neurons.id.tolist()


def genome_with_nodes_that_stay_0(config, acting):
    """Node 7 has inputs that are disabled; node 9 and an output have none; 0 acts if told so."""
    genome, rng = neat.DefaultGenome(1), random.Random(3)
    for key in (0, 1, 7, 9):
        genome.nodes[key] = gene = neat.genes.DefaultNodeGene(key)
        gene.bias, gene.response = rng.gauss(0.0, 1.0), rng.gauss(0.0, 1.0)
        gene.time_constant = rng.uniform(0.1, 2.0)
        gene.activation, gene.aggregation = rng.choice(["tanh", "exp"]), rng.choice(["sum", "max"])
    for at, key in enumerate([(7, 0), (-1, 0), (7, 7), (-1, 7)]):
        genome.connections[key] = gene = neat.genes.DefaultConnectionGene(key, innovation=at)
        gene.weight, gene.enabled = rng.gauss(0.0, 1.0), acting and key[1] == 0
    return genome


@pytest.mark.parametrize("acting", [True, False], ids=["acting", "silent"])
@pytest.mark.parametrize("advance", [0.1, 0.25])
@pytest.mark.parametrize("version", ["2.0.0", "2.1.0"])
def test_nodes_that_stay_0_keep_their_genes(version, advance, acting, tmp_path):
    _, config = to_neat_python(Network.mlp([1, 2]))
    genome = genome_with_nodes_that_stay_0(config, acting)
    times = {"time_step": 0.1, "advance_time": advance, "version": version}
    net = through_onnx(load_network(genome, config, **times))
    path = tmp_path / "winner.pkl"
    net.save(path, library="neat-python")
    found = [(pickle.loads(path.read_bytes()), 10.0)]  # in time steps
    if version == "2.0.0":
        found.append((to_neat_python(net, time_step=0.1)[0], 1.0))
    for back, unit in found:
        assert back.connections.keys() == genome.connections.keys()
        for key, gene in genome.connections.items():
            assert back.connections[key].weight == gene.weight
            assert back.connections[key].enabled == gene.enabled
        assert back.nodes.keys() == genome.nodes.keys()
        for key, gene in genome.nodes.items():
            for name in ("bias", "response", "activation", "aggregation"):
                assert getattr(back.nodes[key], name) == getattr(gene, name)
            assert back.nodes[key].time_constant == pytest.approx(unit * gene.time_constant)
    with pytest.warns(NeatOnnxWarning, match=f"ctrnn of neat-python {version}"):
        document = net.to_library("neat-python")
    assert [node["id"] for node in document["nodes"]] == ([0] if acting else [])


def test_time_constants_far_below_the_step_come_back_from_a_float32_model():
    """Of 1 - exp(-x), the rate of a step, float32 and float64 have no digits left then."""
    document = {**NEWER[0].source, "nodes": [dict(node) for node in NEWER[0].source["nodes"]]}
    constants = [0.001, 0.0123, 0.004]
    for node, constant in zip(document["nodes"], constants, strict=False):
        node["time_constant"] = constant
    back = through_onnx(timed.quietly(document, 0.0625, 0.0625)).to_library("neat-python")
    found = [node["time_constant"] * 0.0625 for node in back["nodes"]]
    assert found[: len(constants)] == pytest.approx(constants[: len(found)], 1e-6)


def test_another_integrator_than_the_installed_one_is_refused():
    with pytest.raises(NetworkError, match=r"neat-python 2\.1\.0; 2\.0 is installed"):
        to_neat_python(timed.read(NEWER[0]), times(NEWER[0])[0])


def test_a_network_that_only_has_the_names_is_refused():
    net = Network.build(
        inputs=1,
        outputs=[2],
        neurons=[{"id": 1, "name": "node 2 drive"}, {"id": 2, "activation": "tanh"}],
        connections=[
            (0, 1, 1.0),
            (1, 2, 0.5),
            {"source": 2, "target": 2, "weight": 0.5, "delay": 1},
        ],
    )
    with pytest.raises(NetworkError, match="neat-python cannot hold neurons that read others"):
        net.to_library("neat-python")


def test_a_pickle_and_its_configuration_evolve_on(tmp_path):
    one = case("np-iznn-4")
    path, net = tmp_path / "winner.pkl", timed.read(one)
    net.save(path, library="neat-python")
    again = load_network(path, path.with_suffix(".ini"), time_step=times(one)[0])
    assert_within(again.run(one.inputs), one.outputs, one.tolerance64)
    text = path.with_suffix(".ini").read_text().replace("pop_size = 150", "pop_size = 10")
    random.seed(2)
    population = neat_population([net], text)
    first = next(iter(population.population.values()))
    assert_within(played(first, population.config, one), one.outputs, one.tolerance64)

    def fitness(genomes, config):
        for _, each in genomes:
            network = neat.iznn.IZNN.create(each, config)
            network.set_inputs([1.0] * len(config.genome_config.input_keys))
            network.advance(1.0)
            each.fitness = random.random()

    assert population.run(fitness, 12).fitness is not None
    assert len(population.species.species) <= 4, "2.1 refuses more species than half the genomes"
