"""The page's side door, from CPython: JSON and bytes in, JSON and bytes out, never a traceback."""

import json
import sys
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from onnx import helper
from support.examples.cases import case
from support.examples.graphs import graph, node
from support.harness.page import ask, convert
from support.harness.sessions import open_session

import neat_onnx
from neat_onnx.page.bridge import call

CORPORA = Path(__file__).parents[1] / "corpora"
WEB = Path(__file__).parents[2] / "web"


def test_a_network_becomes_a_model_a_report_and_three_files(source):
    reply, blobs = convert(source, name="winner.json")
    result = reply["result"]
    assert (result["kind"], result["report"]["passed"]) == ("network", True)
    assert (result["summary"]["inputs"], result["summary"]["outputs"]) == (3, 3)
    drawn = ask("drawing")[0]["result"]
    assert len(drawn["graph"]["neurons"]) == result["summary"]["neurons"]
    assert drawn["svg"] is None
    assert ask("file", kind="svg")[1]["file"].startswith(b"<svg")
    net = neat_onnx.load_network(source)
    model = neat_onnx.export(net)
    assert blobs == {
        "onnx": model.to_bytes(),
        "json": model.to_json().encode(),
        "network": net.to_json().encode(),
    }


@pytest.mark.parametrize("kind", ["onnx", "json"])
def test_a_model_becomes_a_network_and_is_given_back(source, kind):
    _, blobs = convert(source, name="winner.json")
    ending = {"onnx": ".onnx", "json": ".onnx.json"}[kind]
    reply, again = convert(blobs[kind], name=f"winner{ending}")
    assert (reply["result"]["kind"], reply["result"]["report"]["passed"]) == ("model", True)
    assert again[kind] == blobs[kind]


def test_onnx_of_neataptic_ts_is_made_valid_and_told():
    source = json.dumps(case("nts-onnx-convmulti-2").document["source"]).encode()
    reply, blobs = convert(source, name="old.onnx.json")
    result = reply["result"]
    assert (result["kind"], result["changed"], result["report"]["passed"]) == ("model", True, True)
    assert (
        "repaired: node conv_l1 (Conv) reads 'input' as 3×4×3: a Reshape stands before it"
        in (reply["warnings"])
    )
    again, same = convert(blobs["onnx"], name="new.onnx")
    assert same["onnx"] == blobs["onnx"]
    assert (again["result"]["changed"], again["warnings"]) == (False, [])
    recorded = case("nts-onnx-convmulti-2").document
    rows = neat_onnx.load_network(blobs["network"]).run(recorded["inputs"])
    np.testing.assert_allclose(rows, recorded["outputs"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("activation", ["Tanh", "Relu"])
def test_a_layer_is_compared_without_onnxruntime(monkeypatch, activation):
    """Or said to be left to another runtime: onnx's evaluator has Tanh alone."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    weights = {"W": np.ones((1, 2, 3)), "R": np.ones((1, 2, 2)), "first": [0]}
    layer = node("RNN", "t W R", "steps y", hidden_size=2, activations=[activation])
    nodes = [node("Unsqueeze", "x first", "t"), layer]
    model = graph(nodes, outputs=["y"], **weights)
    reply, _ = convert(model.SerializeToString(), name="rnn.onnx")
    result = reply["result"]
    assert reply["warnings"] == []
    if activation == "Tanh":
        assert result["report"]["verdict"] == "equal"
    else:
        assert result["report"] is None
        assert "Relu" in result["unchecked"], result["unchecked"]


def test_a_model_that_onnx_does_not_run_is_left_to_another_runtime():
    nodes = [node("MatMul", "x w", "s"), node("Gelu", "s", "y")]
    nodes[1].domain = "com.microsoft"
    model = graph(nodes, w=np.random.default_rng(0).normal(size=(3, 2)))
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    shaped = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", 2])
    model.graph.output[0].CopyFrom(shaped)
    reply, blobs = convert(model.SerializeToString(), name="optimized.onnx")
    result = reply["result"]
    assert (result["kind"], result["report"]) == ("model", None)
    assert "'Gelu' from domain 'com.microsoft' is unknown" in result["unchecked"]
    assert neat_onnx.verify(blobs["network"], model, runtime="onnxruntime").passed
    reply, inputs = ask("runtime_inputs")
    assert reply["result"]["runs"] == [{"x": {"type": "float32", "dims": [256, 3]}}]
    assert inputs["model"] == blobs["onnx"]
    assert len(inputs["tensors"]) == 256 * 3 * 4


def test_options_that_ports_want_are_told():
    document = json.loads(neat_onnx.Network.rnn(2, 3, seed=1).to_json())
    assert convert(json.dumps(document).encode())[0]["result"]["left_open"] == {}
    for port in document["inputs"] + document["outputs"]:
        port |= {"dtype": "float64", "time_axis": 1}
    result = convert(json.dumps(document).encode())[0]["result"]
    assert result["left_open"] == {"dtype": "float64", "sequence": True}


def test_the_neataptic_dialect_is_json_and_its_onnx_runs():
    document = case("nts-onnx-default-2").document
    data = json.dumps(document["source_network"]).encode()
    reply, blobs = convert(data, name="net.json", options={"dialect": "neataptic"})
    assert reply["result"]["report"]["passed"]
    assert json.loads(blobs["json"]) == document["source"]
    session = open_session(blobs["onnx"])
    (got,) = session.run(None, {"input": np.array(document["inputs"], np.float32)})
    np.testing.assert_allclose(got, document["outputs"], rtol=1e-5, atol=1e-6)


def test_a_document_of_the_neataptic_dialect_is_converted_once(monkeypatch):
    source = json.dumps(case("nts-onnx-default-2").document["source_network"]).encode()
    done, plain = [], neat_onnx.convert
    monkeypatch.setattr(neat_onnx, "convert", lambda model: done.append(model) or plain(model))
    convert(source, name="net.json", options={"dialect": "neataptic"})
    for method in ("model_graph", "parity", "runtime_inputs"):
        assert "result" in ask(method)[0]
    assert len(done) == 1


def test_samples_and_seed_are_used(source):
    reply, _ = convert(source, name="winner.json", samples=7, seed=3)
    assert (reply["result"]["report"]["samples"], reply["result"]["report"]["seed"]) == (7, 3)


def test_progress_goes_forward_from_reading_to_writing(source):
    seen: list[tuple[str, float]] = []
    call("convert", '{"name": "x.json"}', source, lambda *step: seen.append(step))
    call("file", '{"kind": "onnx"}', b"", lambda *step: seen.append(step))
    assert [stage for stage, _ in seen] == ["reading", "exporting", "comparing", "writing"]
    assert sorted(fraction for _, fraction in seen) == [fraction for _, fraction in seen]
    assert all(0 <= fraction <= 1 for _, fraction in seen)


TANH = "(float[N, 3] x) => (float[N, 3] y) { y = Tanh (x) }"
MODELS = {
    "text": (TANH, None),
    "not valid": (TANH.replace("float[N, 3] y", "double[N, 3] y"), "is not valid ONNX"),
    "random": (  # a warning shows no arguments of Python
        TANH.replace("y = Tanh (x)", "h = Tanh (x) n = RandomNormalLike (h) y = Add (h, n)"),
        "The tensors before the chance are imported: h",
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_converted_whatever_its_form(name):
    body, said = MODELS[name]
    text = f'<ir_version: 8, opset_import: ["": 18]> g {body}'
    proto = onnx.parser.parse_model(text)
    forms = {
        "m.onnxtxt": text.encode(),
        "m.textproto": str(proto).encode(),
        "m.onnx": proto.SerializeToString(),
    }
    for file, data in forms.items():
        reply, _ = convert(data, name=file)
        assert reply["result"]["kind"] == "model"
        assert reply["result"]["report"]["passed"] or name == "random"
        assert any(said in text for text in reply["warnings"]) if said else not reply["warnings"]


def test_a_network_has_no_form_of_an_import(source):
    assert convert(source, name="net.json")[0]["result"]["model_ports"] is None
    assert ask("model_ports", source, name="net.json")[0]["error"]["kind"] == "DocumentError"


def test_numbers_that_json_cannot_hold_come_as_words(source):
    reply, _ = convert(source, name="x.json")
    json.dumps(reply, allow_nan=False)


@pytest.mark.parametrize("reading", [False, True])
def test_warming_up_goes_the_way_of_a_file(reading):
    assert ask("warm", reading=reading)[0]["result"] == {}
