"""Files as the page hands them to the engine: genomes, populations, and what is asked for."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from support.examples.cases import case
from support.harness.page import ask, convert

from neat_onnx import load_network, load_networks

TESTS = Path(__file__).parents[1]
SAMPLES = TESTS.parent / "web" / "samples"
RECORDED = json.loads((TESTS / "libraries" / "neat_python" / "recorded.json").read_text())
CASES = {case["name"]: case for case in RECORDED["cases"]}
PICKLE, POPULATION = "ff-xor0-2.0.0", "checkpoint-population-2.0.0"


def converted(name, **params):
    return convert(base64.b64decode(CASES[name]["file"]), name="winner", **params)[0]


def config_of(name):
    return RECORDED["configs"][CASES[name]["config"]]


def test_a_genome_with_its_configuration_is_no_population():
    result = converted(PICKLE, config=config_of(PICKLE))["result"]
    assert (result["kind"], result["report"]["passed"]) == ("network", True)
    assert (result["genome"], result["members"]) == (None, [])


def test_a_genome_alone_asks_for_its_configuration():
    warned = converted(PICKLE)["warnings"]
    assert any("without its configuration" in text for text in warned)
    bare = (
        b"\x80\x04cneat.genome\nDefaultGenome\n)\x81}(X\x05\x00\x00\x00nodes}"
        b"X\x0b\x00\x00\x00connections}ub."
    )
    error = convert(bare, name="winner")[0]["error"]
    assert (error["kind"], error["where"]) == ("ConfigurationNeeded", "config")
    assert "configuration is needed" in error["message"]


def test_a_version_that_is_told_is_taken():
    name = "ff-messy0-1.0.0"
    for facts, asked in (({}, True), ({"version": "1.0.0"}, False)):
        warned = converted(name, config=config_of(name), facts=facts)["warnings"]
        assert any("give version" in text for text in warned) == asked
    refused = converted(name, config=config_of(name), facts={"version": 1})["error"]
    assert (refused["kind"], refused["where"]) == ("OptionError", "version")


def test_a_checkpoint_gives_its_best_genome_and_lists_all():
    nets = load_networks(base64.b64decode(CASES[POPULATION]["file"]))
    best, *_, last = nets
    found = converted(POPULATION)["result"]
    assert found["genome"] == best
    assert [member["id"] for member in found["members"]] == list(nets)
    assert found["members"][0]["neurons"] == len(nets[best])
    found = converted(POPULATION, genome=last)["result"]
    assert (found["genome"], found["report"]["passed"]) == (last, True)
    assert "no genome 12345" in converted(POPULATION, genome=12345)["error"]["message"]


def test_a_checkpoint_says_its_fitness_and_species_and_other_files_nothing():
    said = ask("population", (SAMPLES / "neat-checkpoint-30").read_bytes())[0]["result"]
    assert (said["size"], said["species"]) == (60, 2)
    assert 3.8 < said["fitness"] < 3.9
    assert set(ask("population", b"{}")[0]["result"].values()) == {None}


GONEAT = (SAMPLES / "goneat.neat").read_bytes()
CYCLIC = GONEAT.replace(b"gene 1 2 4 0.38 false 13 0 false", b"gene 1 4 5 0.38 true 13 0 true")
TIMED = json.dumps(case("np-ctrnn-v21-3").source).encode()
SILENT = {
    "time_step": (TIMED, {"time_step": 0.125, "advance_time": 0.5}),
    "inputs": ((SAMPLES / "tensorneat.json").read_bytes(), {"inputs": 2, "outputs": 1}),
    "cycles": (CYCLIC, {"cycles": 3}),
}


@pytest.mark.parametrize("where", SILENT)
def test_what_a_file_does_not_say_is_asked_for(where):
    source, facts = SILENT[where]
    error = convert(source, name="x")[0]["error"]
    assert (error["kind"], error["where"]) == ("OptionError", where)
    reply, blobs = convert(source, name="x", facts={**facts, "version": None})
    assert reply["result"]["report"]["passed"]
    assert blobs["network"] == load_network(source, **facts).to_json().encode()
    if source == TIMED:
        recorded = case("np-ctrnn-v21-3")
        outputs = load_network(blobs["network"]).run(recorded.inputs)
        np.testing.assert_allclose(outputs, recorded.outputs, rtol=1e-11)
