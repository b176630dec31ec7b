"""Genomes of neat-python as its users have them, and networks written for other libraries."""

import base64
import io
import json
import zipfile

import numpy as np
import pytest
from site_page import ROOT, NeatPage, source_text

import neat_onnx

RECORDED = json.loads((ROOT / "tests/libraries/neat_python/recorded.json").read_text())
CASES = {case["name"]: case for case in RECORDED["cases"]}
pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
PICKLE, CHECKPOINT = "ff-xor0-2.0.0", "checkpoint-population-2.0.0"


def file_of(name: str) -> bytes:
    return base64.b64decode(CASES[name]["file"])


def config_of(name: str) -> str:
    return RECORDED["configs"][CASES[name]["config"]]


WINNER = {"winner.pkl": file_of(PICKLE), "config": config_of(PICKLE).encode()}


def assert_converted(neat: NeatPage, net: neat_onnx.Network) -> None:
    assert neat.text("verdict") == "passed"
    assert neat.download("network")[1] == net.to_json().encode()


@pytest.mark.parametrize("name", ["ff-messy0-0.92", "rec-memory0-1.1.0"])
def test_a_pickle_and_its_configuration_are_dropped_together(neat, tmp_path, name):
    (tmp_path / "winner.pkl").write_bytes(file_of(name))
    (tmp_path / "config-feedforward").write_text(config_of(name))
    assert (
        neat.after(lambda: neat.drag(tmp_path / "config-feedforward", tmp_path / "winner.pkl"))
        == "done"
    )
    assert_converted(neat, neat_onnx.load_network(file_of(name), config_of(name)))
    assert neat.download("onnx")[0] == "winner.onnx"


def test_a_genome_alone_is_read_and_a_configuration_asks_for_its_genome(neat):
    net = neat_onnx.load_network(file_of(PICKLE), config_of(PICKLE))
    assert neat.choose_all({"winner.pkl": file_of(PICKLE)}) == "done"
    assert_converted(neat, net)
    assert neat.choose_all({"config": config_of(PICKLE).encode()}) == "asking"
    assert "is a configuration" in neat.text("missing-file")
    assert neat.choose_all({"best": file_of(PICKLE)}) == "done"
    assert_converted(neat, net)


def test_the_link_of_a_pickle_carries_its_configuration(neat):
    neat.choose_all(WINNER)
    neat.page.wait_for_url("**/#*config=*")
    link = neat.page.evaluate("location.hash")
    neat.choose("another.json", source_text("np-ff-13"))
    assert neat.follow(link) == "done"
    assert_converted(neat, neat_onnx.load_network(file_of(PICKLE), config_of(PICKLE)))


def test_a_checkpoint_gives_the_best_and_lets_others_be_chosen(neat):
    nets = neat_onnx.load_networks(file_of(CHECKPOINT))
    best, *_, last = nets
    assert neat.choose_all({"neat-checkpoint-49": file_of(CHECKPOINT)}) == "done"
    assert neat["genome"].input_value() == str(best)
    assert neat["genome"].locator("option").count() == len(nets)
    assert_converted(neat, nets[best])
    assert neat.after(lambda: neat["genome"].select_option(str(last))) == "done"
    assert neat["genome"].input_value() == str(last)
    assert_converted(neat, nets[last])


def test_a_hostile_pickle_is_refused_in_words(neat):
    assert neat.choose_all({"winner.pkl": b"\x80\x04cos\nsystem\n(S'ls'\ntR."}) == "error"
    assert "os.system" in neat.text("error")


def saved_for(neat: NeatPage, library: str) -> tuple[str, bytes]:
    return neat.saved(f"download-library-{library}")


def test_a_network_is_saved_for_another_library(neat):
    neat.given(WINNER)
    net = neat_onnx.load_network(file_of(PICKLE), config_of(PICKLE))
    x = np.array(CASES[PICKLE]["inputs"])
    name, data = saved_for(neat, "neataptic")
    assert name == "winner.json"
    np.testing.assert_allclose(neat_onnx.load_network(data).activate(x), net.activate(x), rtol=1e-9)
    name, data = saved_for(neat, "neat-python-pkl")
    assert name == "winner.zip"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        back = neat_onnx.load_network(archive.read("winner.pkl"), archive.read("winner.ini"))
    np.testing.assert_allclose(back.activate(x), net.activate(x), rtol=1e-12)


def test_what_a_library_cannot_hold_is_refused_in_words(neat):
    neat.choose("median.json", source_text("np-atom-agg-median"))
    neat["download-menu"].click()
    refused = neat.page.locator("[data-testid=download-library-neataptic]:disabled")
    refused.wait_for()
    assert "median" in refused.inner_text()
    assert neat.text("verdict") == "passed"


def test_a_network_is_saved_as_code_and_with_its_proof(neat):
    neat.given(WINNER)
    net = neat_onnx.load_network(file_of(PICKLE), config_of(PICKLE))
    found = {}
    for form in ("python", "certificate"):
        name, data = neat.saved(f"download-form-{form}")
        found[name] = data.decode()
    assert found["winner.py"] == neat_onnx.generate_code(net, language="python")
    assert json.loads(found["winner.certificate.json"])["verdict"] == "equal"
