"""ONNX that NeatapticTS wrote, dropped on the page: repaired, told, and right."""

import json
import warnings
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from oracle import assert_close
from site_page import ROOT, case, source_text

import neat_onnx

WITH_CONV = ["nts-onnx-convmulti-1"]
SAMPLE = ("neataptic-ts-conv", "nts-onnx-convstride-3")


def converted(document: dict[str, Any]) -> neat_onnx.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", neat_onnx.NeatOnnxWarning)
        return neat_onnx.convert(document)


def in_onnxruntime(data: bytes, name: str) -> Any:
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    return session.run(None, {"input": np.array(case(name)["inputs"], np.float32)})[0]


def warned(neat) -> list[str]:
    return neat.page.locator("#chip-panel .warnings li").all_text_contents()


def assert_files(page: Any, name: str, stem: str) -> bytes:
    """The downloads are, byte for byte, what CPython makes of the document."""
    model = converted(case(name)["source"])
    file, data = page.download("onnx")
    assert (file, data) == (f"{stem}.onnx", model.to_bytes())
    assert page.download("json") == (f"{stem}.onnx.json", model.to_json().encode())
    network = neat_onnx.import_model(model).to_json().encode()
    assert page.download("network") == (f"{stem}.network.json", network)
    return data


@pytest.mark.parametrize("name", WITH_CONV)
def test_a_convolution_becomes_valid_onnx(neat, name):
    assert neat.choose("old.onnx.json", source_text(name)) == "done"
    assert neat.text("verdict") == "passed"
    assert float(neat.text("normalised-mse")) <= 1e-12
    told = warned(neat)
    assert any("node conv_l1 (Conv) reads 'input' as" in text for text in told)
    assert any("no node produces the output 'output'" in text for text in told)
    assert "was made valid ONNX" in neat.text("report")
    data = assert_files(neat, name, "old")
    recorded = case(name) | {"sens32": [0.0] * len(case(name)["inputs"])}
    assert_close(in_onnxruntime(data, name), recorded)


def test_a_dropped_file_says_what_its_network_never_did(neat, tmp_path):
    path = tmp_path / "pooled.onnx.json"
    path.write_bytes(source_text("nts-onnx-poolmax-2"))
    turns = neat.turns()
    neat.drag(path)
    assert neat.outcome(turns) == "done"
    assert neat.text("verdict") == "passed"
    assert any(
        "pool_after_l1 (MaxPool)" in text and "has no pools" in text for text in warned(neat)
    )
    assert_files(neat, "nts-onnx-poolmax-2", "pooled")


def test_memory_is_stepped_through(neat):
    name = "nts-onnx-recurrent2-2"
    assert neat.choose("memory.json", source_text(name)) == "done"
    assert any("'hidden_prev_l2' is what 'RecurrentSum_2' was" in text for text in warned(neat))
    assert "5 values from one step to the next" in neat.text("network-summary")
    assert_files(neat, name, "memory")


def test_a_document_that_contradicts_itself_is_an_error(neat):
    assert neat.choose("old.json", source_text("nts-onnx-poolmax-1")) == "error"
    told = neat.text("error")
    assert "gemm_l2 (Gemm) has 32 columns, its input has 8: pool_after_l1 (MaxPool)" in told
    assert "graph.node[3]" in told


def test_a_model_that_is_valid_is_not_said_to_be_changed(neat):
    model = neat_onnx.export(neat_onnx.Network.mlp([2, 3, 1], activation="tanh", seed=0))
    assert neat.choose("fine.onnx", model.to_bytes()) == "done"
    assert neat.download("onnx")[1] == model.to_bytes()
    assert "the ONNX file you dropped" in neat.text("report")
    assert warned(neat) == []


def test_the_sample_is_one_click_away(neat):
    stem, name = SAMPLE
    turns = neat.turns()
    neat.page.evaluate("(hash) => { location.hash = hash; }", f"#sample={stem}")
    assert neat.outcome(turns) == "done"
    assert neat.text("verdict") == "passed"
    document = json.loads((ROOT / "web" / "samples" / f"{stem}.json").read_text())
    assert document == case(name)["source"]
    data = assert_files(neat, name, stem)
    recorded = case(name) | {"sens32": [0.0] * len(case(name)["inputs"])}
    assert_close(in_onnxruntime(data, name), recorded)
