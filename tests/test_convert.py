"""Convert: whatever model there is becomes valid ONNX, in either form, or nothing is written."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from google.protobuf import json_format
from support.examples.cases import Case, assert_within, case
from support.examples.flat_documents import conv, document, gemm, spec, weights, with_warnings
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

import neat_onnx
from neat_onnx import ModelError, NeatOnnxError, NeatOnnxWarning, Network, convert
from neat_onnx.cli import main

CONV = "nts-onnx-conv1ch-2"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Runs convert in an empty directory: (exit code, standard output, lines of its errors)."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: Any) -> tuple[int, str, list[str]]:
        code = main(["convert", *map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err.splitlines()

    return command


@pytest.fixture
def old(tmp_path) -> Path:
    """A document of NeatapticTS in a file of its own."""
    path = tmp_path.parent / f"{tmp_path.name}-old.onnx.json"
    path.write_text(json.dumps(case(CONV).source))
    return path


def in_onnxruntime(path: Path | str, peer: Case) -> Any:
    session = open_session(path)
    return session.run(None, {"input": peer.inputs.astype(np.float32)})[0].astype(np.float64)


# --- the function --------------------------------------------------------------------------------


def test_what_is_missing_is_filled_in():
    bare = case("nts-onnx-default-2")
    model, _ = with_warnings(convert, bare.source)
    assert (model.ir_version, model.opset, model.graph.name) == (8, 18, "graph")
    assert (model.producer_name, model.producer_version) == ("neat_onnx", neat_onnx.__version__)
    assert model.graph.inputs[0].shape == ("N", 4)
    assert model.graph.outputs[0].shape == ("N", 3)


def test_what_is_there_is_kept():
    peer = case(CONV)
    model, _ = with_warnings(convert, peer.source)
    for key in ("ir_version", "producer_name", "producer_version", "doc_string"):
        assert getattr(model, key) == peer.source[key]
    known = {entry["key"]: entry["value"] for entry in peer.source["metadata_props"]}
    assert model.metadata == known


@pytest.mark.parametrize("name", ["nts-net-dag-01", "nts-net-lstm-2", "np-ff-19"])
def test_what_export_writes_stays_as_it_is(name: str):
    model = neat_onnx.export(case(name).network())
    assert convert(model) == model
    assert convert(model.to_bytes()).to_bytes() == model.to_bytes()
    assert convert(model.to_json()).to_json() == model.to_json()
    through_protobuf = convert(json_format.MessageToJson(model.to_proto()))
    assert through_protobuf.to_bytes() == model.to_bytes()


def test_the_model_is_the_callers_still():
    model = neat_onnx.load_model(case(CONV).source)
    before = model.to_json()
    with_warnings(convert, model)
    assert model.to_json() == before


def test_what_the_dialect_writes_comes_back_valid():
    net = Network.mlp([3, 4, 2], activation="tanh", seed=0)
    model, _ = with_warnings(convert, neat_onnx.export(net, dialect="neataptic"))
    assert neat_onnx.validate(model) == []
    assert neat_onnx.verify(net, neat_onnx.load_model(model.to_bytes())).passed
    assert json.loads(model.to_json())["ir_version"] == 8


def test_what_no_output_depends_on_is_dropped():
    nodes = [node("Gemm", "x w", "y"), node("Tanh", "x", "unused")]
    source = graph(nodes, w=np.ones((3, 2)), v=np.ones(2))
    with pytest.warns(NeatOnnxWarning, match="left out: 1 nodes, 1 initializers"):
        model = convert(source)
    assert neat_onnx.validate(model) == []
    assert model.graph.outputs[0].shape == ("N", 2)  # the source does not say it


def test_weights_that_are_no_inputs_need_a_later_ir_version():
    source = graph([node("MatMul", "x w", "y")], opset=8, w=np.ones((3, 2)))
    source.ir_version = 3
    with pytest.warns(NeatOnnxWarning, match="the IR version is 4"):
        model = convert(source)
    onnx.checker.check_model(model.to_proto(), full_check=True)
    assert (model.ir_version, model.opset) == (4, 8)


def test_what_cannot_be_valid_is_refused():
    broken = graph([node("Gemm", "x w", "y")], w=np.ones((4, 2)))
    with pytest.raises(ModelError, match="would not be valid ONNX"):
        convert(broken)
    with pytest.raises(ModelError, match="no graph"):
        convert({"nodes": [], "connections": []})


# --- the command ---------------------------------------------------------------------------------


def test_a_document_of_neataptic_ts_runs_in_onnxruntime(run, old):
    code, out, errors = run(old, "new.onnx", "--verify")
    assert code == 0
    assert "normalised MSE" in out
    assert "wrote new.onnx: 8 nodes" in out
    assert "warning: repaired: node conv_l1 (Conv) reads 'input' as 1×5×4" in "\n".join(errors)
    assert len(set(errors)) == len(errors) == 3
    peer = case(CONV)
    assert_within(in_onnxruntime("new.onnx", peer), peer.outputs, peer.tolerance32)


@pytest.mark.parametrize("encoding", ["numbers", "raw"])
def test_json_in_each_encoding(run, old, encoding: str):
    assert run(old, "new.json", "--encoding", encoding)[0] == 0
    model, _ = with_warnings(convert, case(CONV).source)
    assert Path("new.json").read_text() == model.to_json(encoding=encoding)
    assert neat_onnx.validate("new.json") == []


def test_a_loss_is_told(run, tmp_path):
    source = tmp_path / "old.json"
    source.write_text(json.dumps(case("nts-onnx-poolmax-2").source))
    code, _, errors = run(source, "new.onnx")
    assert code == 0
    line = "warning: the document computes something else than the network it was made from: "
    assert any(text.startswith(line + "pool_after_l1 (MaxPool)") for text in errors)


@pytest.mark.parametrize("arguments", [["x.txt"], ["x"], ["nowhere/x.onnx"]])
def test_a_target_that_cannot_be_is_refused_first(run, old, arguments: list[str]):
    code, _, errors = run(old, *arguments)
    assert (code, len(errors)) == (2, 1)
    assert run(old, old)[0] == 2


def test_a_network_is_no_model(run, tmp_path):
    source = tmp_path / "net.json"
    source.write_text(json.dumps(case("nts-net-mlp-3").source))
    code, _, errors = run(source, "new.onnx")
    assert code == 2
    (error,) = errors
    assert error.startswith("error: not an ONNX model: it has no graph")
    assert "neat-onnx export" in error


def test_the_same_is_refused_by_the_command_and_the_function(run, old, tmp_path):
    tensors = weights(ConvW0=(2, 1, 2, 2), ConvB0=(2,), W=(2, 8), B=(2,))
    nodes = [*conv(1, "input", [2, 2]), gemm(2, "Layer_1")]
    specs = [spec(1, (1, 4, 4), (2, 3, 3))]
    source = document(nodes, tensors, 16, 2, conv2d_specs=specs)
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(source))
    with pytest.raises(NeatOnnxError) as refused:
        with_warnings(convert, source)
    assert run(path, "new.onnx")[2][-1] == f"error: {refused.value}"
    assert not Path("new.onnx").exists()
