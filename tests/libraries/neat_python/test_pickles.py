"""Pickles of neat-python 0.92, 1.0.0, 1.1.0, 2.0.0 and 2.1.0, as it wrote them after evolution.

`recorded.json` holds each file, its configuration, and what the library's own networks computed.
"""

import base64
import copy
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import neat_onnx
from neat_onnx import (
    DocumentError,
    NeatOnnxError,
    NetworkError,
    OptionError,
    load_network,
    load_networks,
)
from neat_onnx.network.expression import equal, sin, tanh, where

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in RECORDED["cases"]}
SINGLE = [name for name, case in CASES.items() if case["kind"] != "checkpoint"]
CHECKPOINTS = [name for name in CASES if name not in SINGLE]
WITH_MEMORY = ("rec", "recnet", "ctrnn", "iznn")

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")


def file_of(name):
    return base64.b64decode(CASES[name]["file"])


def config_of(name):
    index = CASES[name]["config"]
    return None if index is None else RECORDED["configs"][index]


def facts_of(name):
    """The options that the file does not tell; only 1.0 needs its version.

    The recurrent networks of 2.x have time constants here, which neat-python does not go by.
    """
    case = CASES[name]
    found = {key: case[key] for key in ("time_step", "advance_time") if key in case}
    if case["kind"] == "rec" and case["version"] >= "2":
        found["time_step"] = 0
    return found | ({"version": "1.0.0"} if case["version"] == "1.0.0" else {})


@pytest.fixture
def custom():
    neat_onnx.register_activation("my_tanh", tanh, library="neat-python")
    neat_onnx.register_activation(
        "my_sinc", lambda z: where(equal(z, 0.0), 1.0, sin(z) / z), library="neat-python"
    )
    yield
    for name in ("my_tanh", "my_sinc"):
        neat_onnx.unregister_activation(name, library="neat-python")


@pytest.mark.parametrize("name", SINGLE)
def test_a_pickle_computes_what_neat_python_computed(name, custom):
    case = CASES[name]
    net = load_network(file_of(name), config_of(name), **facts_of(name))
    x = np.array(case["inputs"])
    got = net.run(x) if case["kind"] in WITH_MEMORY else net.activate(x)
    rows = [row for row, values in enumerate(case["outputs"]) if values is not None]
    want = np.array([case["outputs"][row] for row in rows], np.float64)
    np.testing.assert_allclose(got[rows], want.reshape(got[rows].shape), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SINGLE)
def test_a_genome_comes_back_through_a_float32_model(name, custom, tmp_path):
    case, facts = CASES[name], facts_of(name)
    neat_onnx.export(load_network(file_of(name), config_of(name), **facts)).save(
        tmp_path / "a.onnx"
    )
    back = neat_onnx.import_model(neat_onnx.load_model(tmp_path / "a.onnx"))
    step = facts.get("time_step") or None
    back.save(tmp_path / "b.pkl", config=config_of(name), time_step=step)
    facts["version"] = case["version"] if case["kind"].startswith("ctrnn") else None
    again = load_network(tmp_path / "b.pkl", tmp_path / "b.ini", **facts)
    x = np.array(case["inputs"])
    got = again.run(x) if case["kind"] in WITH_MEMORY else again.activate(x)
    rows = [row for row, values in enumerate(case["outputs"]) if values is not None]
    want = np.array([case["outputs"][row] for row in rows], np.float64).reshape(got[rows].shape)
    np.testing.assert_allclose(got[rows], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_checkpoint_holds_its_config_and_all_genomes(name):
    nets = load_networks(file_of(name))
    assert sorted(nets) == sorted(map(int, CASES[name]["outputs"]))
    for key, outputs in CASES[name]["outputs"].items():
        got = nets[int(key)].activate(np.array(CASES[name]["inputs"]))
        np.testing.assert_allclose(got, outputs, rtol=1e-12, atol=1e-12)
    first = next(iter(nets))
    assert first == CASES[name].get("best", first), "the lowest fitness, where the Config says so"
    assert load_network(file_of(name), genome=first) == nets[first]


@pytest.mark.parametrize("of_2_1", [True, False])
def test_an_ini_file_of_2_1_says_that_the_lowest_fitness_is_the_best(of_2_1):
    genome = pickle.loads(file_of("ff-messy0-2.0.0"))
    low, high = copy.copy(genome), copy.copy(genome)
    low.fitness, high.fitness = -1.0, 2.0
    config = config_of("ff-messy0-2.0.0").replace("criterion = max", "criterion = min")
    if of_2_1:
        item = "compatibility_include_node_genes = True"
        config = config.replace("[DefaultGenome]", f"[DefaultGenome]\n{item}")
    population = pickle.dumps({1: high, 2: low})
    assert list(load_networks(population, config)) == ([2, 1] if of_2_1 else [1, 2])


@pytest.mark.parametrize("name", ["ff-messy0-1.0.0", "rec-pole2-1.0.0"])
def test_a_genome_that_1_0_computes_otherwise_asks_for_its_version(name):
    with pytest.warns(neat_onnx.NeatOnnxWarning, match=r"give version='1\.0\.0'"):
        net = load_network(file_of(name), config_of(name))
    x = np.array(CASES[name]["inputs"])
    assert not np.allclose(net.run(x), CASES[name]["outputs"])


def changed(name, change):
    """The pickle of a genome after a change to its connection genes."""
    genome = pickle.loads(file_of(name))
    change(genome.connections)
    return pickle.dumps(genome)


def disable_all(connections):
    for gene in connections.values():
        gene.enabled = False


@pytest.mark.parametrize(
    ("name", "change", "version"),
    [
        ("ff-messy0-0.92", dict.clear, "0.92"),
        ("ff-messy0-1.0.0", dict.clear, "0.92"),
        ("ff-messy0-1.1.0", disable_all, "1.0.0"),
    ],
)
def test_outputs_that_nothing_leads_to_ask_for_the_version(name, change, version):
    data, config = changed(name, change), config_of(name)
    with pytest.warns(neat_onnx.NeatOnnxWarning, match=f"give version='{version}'"):
        newer = load_network(data, config)
    older = load_network(data, config, version=version)
    x = np.zeros(len(newer.input_neurons))
    assert np.all(older.activate(x) == 0.0) and np.any(newer.activate(x) != 0.0)


def test_a_pickled_ctrnn_is_integrated_as_by_the_version_that_is_given():
    name = "ctrnn-ctrnn0-2.0.0"
    times, x = facts_of(name), np.array(CASES[name]["inputs"])
    old, new = (
        load_network(file_of(name), **times, version=version).run(x)
        for version in ("2.0.0", "2.1.0")
    )
    np.testing.assert_allclose(old, CASES[name]["outputs"], rtol=1e-12, atol=1e-12)
    assert not np.allclose(new, old)


@pytest.mark.parametrize("version", [2.1, "", "two", "2", "2.1\n3", "9" * 400 + ".1"])
def test_a_version_that_is_none_is_refused(version):
    name = "ff-xor0-2.0.0"
    with pytest.raises(OptionError, match="is not a version of neat-python"):
        load_network(file_of(name), config_of(name), version=version)


def test_a_population_asks_for_a_genome():
    with pytest.raises(OptionError, match="a population of 8 genomes") as caught:
        load_network(file_of(CHECKPOINTS[0]))
    assert "load_networks" in str(caught.value)
    with pytest.raises(OptionError, match="there is no genome 12345"):
        load_network(file_of(CHECKPOINTS[0]), genome=12345)
    with pytest.raises(OptionError, match="there is no genome"):
        load_network(file_of(CHECKPOINTS[0]), genome=[1])


def test_what_holds_no_network_says_what_to_pickle():
    with pytest.raises(DocumentError, match="a list is not a network") as refused:
        load_network(pickle.dumps([]))
    assert "stats.best_genome()" in (refused.value.hint or "")


def test_files_and_paths(tmp_path):
    name = "ff-xor0-2.0.0"
    (tmp_path / "winner.pkl").write_bytes(file_of(name))
    (tmp_path / "config-feedforward").write_text(config_of(name))
    net = load_network(tmp_path / "winner.pkl", tmp_path / "config-feedforward")
    assert net == load_network(file_of(name), config_of(name))
    assert net == load_network(file_of(name), config_of(name).encode())
    with pytest.warns(neat_onnx.NeatOnnxWarning, match="without its configuration"):
        assert load_network(tmp_path / "winner.pkl") == net
    with pytest.raises(DocumentError, match="this is a configuration of neat-python"):
        load_network(tmp_path / "config-feedforward")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("num_inputs = 2", "num_inputs = 1"), "no node -2"),
        (("num_outputs = 1", "num_outputs = 2"), "no node 1"),
        (("num_inputs = 2", "num_inputs = two"), "invalid literal"),
        (("num_inputs = 2", "num_inputs = 99999999999"), "up to 100000"),
        (("feed_forward = True", "feed_forward = maybe"), "Not a boolean: maybe"),
        (("[DefaultGenome]", "[DefaultGenome"), "not a configuration"),
        (("[NEAT]", "[NEAT]\n[NEAT]"), "already exists"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(change, message):
    with pytest.raises((DocumentError, NetworkError), match=message):
        load_network(file_of("ff-xor0-2.0.0"), config_of("ff-xor0-2.0.0").replace(*change))


@pytest.mark.parametrize("name", ["ff-custom0-0.92", "ff-custom0-2.0.0"])
def test_a_custom_function_says_how_to_register_it(name):
    with pytest.raises(NetworkError, match="unknown activation 'my_") as caught:
        load_network(file_of(name), config_of(name))
    assert "register_activation" in str(caught.value)


def test_spoilt_pickles_are_read_or_refused_in_one_line():
    random = np.random.default_rng(4)
    refused = 0
    for _ in range(400):
        name = SINGLE[random.integers(len(SINGLE))]
        data = bytearray(file_of(name))
        place = random.integers(len(data))
        if random.random() < 0.5:
            data[place] = random.integers(256)
        else:
            del data[place : place + random.integers(1, 9)]
        try:
            load_network(bytes(data), config_of(name), **facts_of(name))
        except NeatOnnxError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 200


def test_the_time_step_of_a_ctrnn_is_asked_for():
    name = "ctrnn-tuple-2.1.0"
    with pytest.raises(OptionError, match="whose time step is not known"):
        load_network(file_of(name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_network(file_of(name), **facts_of(name))
        load_network(file_of("rec-memory0-0.92"), config_of("rec-memory0-0.92"))


def test_a_ctrnn_of_old_genes_has_no_time_constants():
    with pytest.raises(NetworkError, match="no time constant"):
        load_network(file_of("ff-xor0-0.92"), config_of("ff-xor0-0.92"), time_step=0.1)


@pytest.mark.parametrize("name", ["ff-messy0-0.92", "ff-messy0-1.0.0"])
def test_genes_that_newer_versions_evaluate_are_told_not_to_come_back(name):
    with pytest.warns(neat_onnx.NeatOnnxWarning, match="do not come back when"):
        load_network(file_of(name), config=config_of(name), **facts_of(name))
