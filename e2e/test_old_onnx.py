"""ONNX that NeatapticTS wrote, dropped on the page: repaired, told, and right."""

import json
import warnings

import numpy as np
import onnx
import onnxruntime
from oracle import assert_close
from site_page import ROOT, NeatPage, case, source_text

import neat_onnx

SAMPLE = ("neataptic-ts-conv", "nts-onnx-convstride-3")


def warned(neat: NeatPage) -> list[str]:
    return neat.page.locator("#chip-panel .warnings li").all_text_contents()


def assert_files(neat: NeatPage, name: str, stem: str) -> bytes:
    """The downloads are, byte for byte, what CPython makes of the document."""
    assert neat.text("verdict") == "passed"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", neat_onnx.NeatOnnxWarning)
        model = neat_onnx.convert(case(name)["source"])
    neat.assert_files(stem, model, neat_onnx.import_model(model))
    return model.to_bytes()


def test_the_sample_becomes_valid_onnx_and_says_what_was_repaired(neat):
    stem, name = SAMPLE
    assert neat.follow(f"#sample={stem}") == "done"
    document = json.loads((ROOT / "web" / "samples" / f"{stem}.json").read_text())
    assert document == case(name)["source"]
    assert float(neat.text("normalised-mse")) <= 1e-12
    told = warned(neat)
    assert any("node conv_l1 (Conv) reads 'input' as" in text for text in told)
    assert any("no node produces the output 'output'" in text for text in told)
    assert "was made valid ONNX" in neat.text("report")
    data, recorded = assert_files(neat, name, stem), case(name)
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    got = session.run(None, {"input": np.array(recorded["inputs"], np.float32)})[0]
    assert_close(got, recorded | {"sens32": [0.0] * len(recorded["inputs"])})


def test_a_file_says_what_its_network_never_did(neat):
    name = "nts-onnx-poolmax-2"
    assert neat.choose("pooled.onnx.json", source_text(name)) == "done"
    assert any("pool_after_l1 (MaxPool)" in text and "no pools" in text for text in warned(neat))
    assert_files(neat, name, "pooled")
    assert "layer: Conv 2×2, MaxPool 3×3" in neat.page.locator(".legend").inner_text()


def test_memory_is_stepped_through(neat):
    name = "nts-onnx-recurrent2-2"
    assert neat.choose("memory.json", source_text(name)) == "done"
    assert any("'hidden_prev_l2' is what 'RecurrentSum_2' was" in text for text in warned(neat))
    assert "5 values from one step to the next" in neat.text("network-summary")
    assert_files(neat, name, "memory")
