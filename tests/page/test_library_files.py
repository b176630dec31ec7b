"""Files of libraries that are not JSON, as the page hands them to the engine."""

import base64
import io
import json
import zipfile
from pathlib import Path

import numpy as np
from support.harness.page import ask, convert

from neat_onnx import libraries, load_network, load_networks
from neat_onnx.page.bridge import call

CORPORA = Path(__file__).parents[1] / "corpora"

RECORDED = json.loads(
    (Path(__file__).parents[1] / "libraries" / "neat_python" / "recorded.json").read_text()
)
CASES = {case["name"]: case for case in RECORDED["cases"]}


def converted(name, **params):
    data = base64.b64decode(CASES[name]["file"])
    text, _ = call("convert", json.dumps({"name": "winner", **params}), data, lambda *_: None)
    return json.loads(text)


def test_a_genome_with_its_configuration():
    config = RECORDED["configs"][CASES["ff-xor0-2.0.0"]["config"]]
    printed = converted("ff-xor0-2.0.0", config=config)
    assert printed["result"]["kind"] == "network"
    assert printed["result"]["report"]["passed"]


def test_a_genome_alone_asks_for_its_configuration():
    warned = converted("ff-xor0-2.0.0")["result"]["warnings"]
    assert any("without its configuration" in text for text in warned)
    bare = (
        b"\x80\x04cneat.genome\nDefaultGenome\n)\x81}(X\x05\x00\x00\x00nodes}"
        b"X\x0b\x00\x00\x00connections}ub."
    )
    text, _ = call("convert", json.dumps({"name": "winner"}), bare, lambda *_: None)
    error = json.loads(text)["error"]
    assert (error["kind"], error["where"]) == ("ConfigurationNeeded", "config")
    assert "configuration is needed" in error["message"]


def test_a_version_that_is_told_is_taken():
    name = "ff-messy0-1.0.0"
    config = RECORDED["configs"][CASES[name]["config"]]
    asked = converted(name, config=config)["result"]["warnings"]
    assert any("give version='1.0.0'" in text for text in asked)
    told = converted(name, config=config, facts={"version": "1.0.0"})["result"]["warnings"]
    assert not any("give version" in text for text in told)
    refused = converted(name, config=config, facts={"version": 1})["error"]
    assert (refused["kind"], refused["where"]) == ("OptionError", "version")


def test_a_checkpoint_gives_its_best_genome_and_lists_all():
    name = "checkpoint-population-2.0.0"
    nets = load_networks(base64.b64decode(CASES[name]["file"]))
    best, *_, last = nets
    printed = converted(name)["result"]
    assert printed["genome"] == best
    assert [member["id"] for member in printed["members"]] == list(nets)
    assert printed["members"][0]["neurons"] == len(nets[best])
    printed = converted(name, genome=last)["result"]
    assert (printed["genome"], printed["report"]["passed"]) == (last, True)
    assert "no genome 12345" in converted(name, genome=12345)["error"]["message"]


def test_a_network_alone_is_no_population():
    config = RECORDED["configs"][CASES["ff-xor0-2.0.0"]["config"]]
    printed = converted("ff-xor0-2.0.0", config=config)["result"]
    assert (printed["genome"], printed["members"]) == (None, [])


def test_every_library_that_is_written_can_be_chosen():
    config = RECORDED["configs"][CASES["ff-xor0-2.0.0"]["config"]]
    printed = converted("ff-xor0-2.0.0", config=config)["result"]
    offered = {choice["library"] for choice in printed["libraries"]}
    assert offered == {library.name for library in libraries() if library.writes} - {"neat-onnx"}


def test_a_network_is_written_for_a_library():
    document = json.loads((CORPORA / "nts-net-dag-24.json").read_text())["source"]
    net = load_network(document)
    convert(json.dumps(document).encode(), name="net.json")
    reply, files = ask("library", library="neataptic-ts", file="net.json")
    assert reply["result"]["name"] == "net.json"
    assert json.loads(files["library"]) == net.to_library("neataptic-ts")


def test_a_genome_and_its_configuration_are_one_archive():
    config = RECORDED["configs"][CASES["ff-xor0-2.0.0"]["config"]]
    converted("ff-xor0-2.0.0", config=config)
    reply, files = ask("library", library="neat-python", file="winner.pkl")
    assert reply["result"]["name"] == "winner.zip"
    with zipfile.ZipFile(io.BytesIO(files["library"])) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert sorted(parts) == ["winner.ini", "winner.pkl"]
    back = load_network(parts["winner.pkl"], config=parts["winner.ini"])
    source = load_network(base64.b64decode(CASES["ff-xor0-2.0.0"]["file"]), config=config)
    x = np.array(CASES["ff-xor0-2.0.0"]["inputs"])
    np.testing.assert_allclose(back.activate(x), source.activate(x), rtol=1e-12)


def test_a_library_that_cannot_hold_it_refuses_in_words():
    document = json.loads((CORPORA / "np-atom-agg-median.json").read_text())["source"]
    convert(json.dumps(document).encode(), name="net.json")
    reply, files = ask("library", library="neataptic", file="net.json")
    assert "median" in json.dumps(reply["error"])
    assert files == {}
