"""Files in, files out: what the page gives is what CPython gives, and it is right."""

import json

import pytest
from oracle import assert_right
from site_page import ROOT, SAMPLES, NeatPage, case, source_text

import neat_onnx


def assert_files(neat: NeatPage, document: dict, stem: str) -> bytes:
    """The three downloads equal, byte for byte, what CPython makes of the same document."""
    net = neat_onnx.load_network(document)
    model = neat_onnx.export(net)
    neat.assert_files(stem, model, net)
    return model.to_bytes()


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_is_one_click_away_and_fits_the_screen(neat, sample):
    neat.follow(f"#sample={sample}")
    assert neat.page.get_attribute("body", "data-job") == "done"
    assert neat.text("verdict") == "passed"
    document = json.loads((ROOT / "web" / "samples" / f"{sample}.json").read_text())
    assert document == case(SAMPLES[sample])["source"]
    assert_right(assert_files(neat, document, sample), SAMPLES[sample])
    neat["step-random"].click()
    neat.page.locator(".frame").press("ArrowRight")
    neat.page.wait_for_selector("#neuron dl")
    neat.assert_in_sight()
    neat.assert_fits()


def test_a_dropped_file_is_converted_and_described_and_options_change_it(neat, tmp_path):
    path = tmp_path / "dag.json"
    path.write_bytes(source_text("nts-net-dag-24"))
    assert neat.after(lambda: neat.drag(path)) == "done"
    source = case("nts-net-dag-24")["source"]
    told = neat.text("network-summary")
    assert "NeatapticTS" in told
    assert f"{source['input']} inputs, {source['output']} outputs" in told
    assert f"{len(source['nodes'])}, " in told
    assert neat["graph"].bounding_box()["height"] > 100
    assert f"{len(source['nodes'])} neurons" in neat["graph"].get_attribute("aria-label")

    neat.page.locator("#option-dtype").select_option("float64")
    assert neat.export_again() == "done"
    assert float(neat.text("normalised-mse")) <= 1e-24
    model = neat_onnx.export(neat_onnx.load_network(source), dtype="float64")
    assert neat.download("onnx")[1] == model.to_bytes()

    name = "np-atom-agg-median"
    assert neat.choose("second.json", source_text(name)) == "done"  # and they never mix
    assert neat.text("verdict") == "passed"
    assert float(neat.text("normalised-mse")) <= 1e-12
    assert float(neat.text("mse")) >= 0
    assert neat.text("network-summary") != told
    assert_right(assert_files(neat, case(name)["source"], "second"), name)


def test_options_that_a_network_wants_are_shown_and_can_be_changed(neat):
    document = json.loads(neat_onnx.Network.rnn(2, 3, seed=1).to_json())
    for port in document["inputs"] + document["outputs"]:
        port |= {"dtype": "float64", "time_axis": 1}
    net = neat_onnx.load_network(document)
    assert neat.choose("sequences.json", json.dumps(document).encode()) == "done"
    whole = neat.page.locator("#option-sequence")
    assert whole.is_checked()
    assert neat.page.locator("#option-dtype").input_value() == "float64"
    assert neat.download("onnx")[1] == neat_onnx.export(net).to_bytes()
    whole.uncheck()
    assert neat.export_again() == "done"
    assert not whole.is_checked()
    assert neat.download("onnx")[1] == neat_onnx.export(net, sequence=False).to_bytes()


@pytest.mark.parametrize("ending", [".onnx", ".onnx.json"])
def test_a_model_comes_back_as_a_network(neat, ending):
    net = neat_onnx.load_network(case("np-ff-13")["source"])
    model = neat_onnx.export(net)
    data = model.to_bytes() if ending == ".onnx" else model.to_json().encode()
    assert neat.choose(f"winner{ending}", data) == "done"
    assert neat.text("verdict") == "passed"
    assert "the ONNX file you dropped" in neat.text("report")
    assert neat.page.locator("#chip-panel .warnings").count() == 0
    read = neat_onnx.load_model(data)
    neat.assert_files("winner", read, neat_onnx.import_model(read))
