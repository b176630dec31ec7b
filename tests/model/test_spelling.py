"""Protobuf's own JSON, and onnx's text forms: what onnx writes and reads, we read and write."""

import io
import json
import warnings

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from support.examples.cases import cases
from support.examples.networks import NETWORKS

from neat_onnx import ModelError, NeatOnnxWarning, Network, OptionError, export, load_model
from neat_onnx.cli import main
from neat_onnx.model.model import is_model

FEW = cases("nts-net", "nap-net", "np-ff", "np-rec")[::8]


def by_onnx(text: str) -> onnx.ModelProto:
    return onnx.load_model(io.StringIO(text), format="json")


def plain(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy without empty texts, with the numbers of all tensors as raw_data."""
    copy = onnx.ModelProto.FromString(proto.SerializeToString())
    graphs = [copy.graph]
    for graph in graphs:
        for node in graph.node:
            graphs += [each.g for each in node.attribute if each.type == onnx.AttributeProto.GRAPH]
            for field in ("domain", "name"):
                if not getattr(node, field):
                    node.ClearField(field)
        for tensor in graph.initializer:
            name = tensor.name
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), name))
        if not graph.doc_string:
            graph.ClearField("doc_string")
    for field in ("doc_string", "producer_name", "producer_version"):
        if not getattr(copy, field):
            copy.ClearField(field)
    for entry in copy.opset_import:
        if not entry.domain:
            entry.ClearField("domain")
    return copy


def assert_same(one: onnx.ModelProto, other: onnx.ModelProto) -> None:
    """The same inputs, outputs, nodes with their attributes, and weights to the bit."""
    assert plain(one) == plain(other)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", FEW, ids=lambda case: case.name)
def test_onnx_reads_what_the_peers_networks_become(case, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeatOnnxWarning)
        model = export(case.network(), dtype=dtype)
    text = model.to_json(spelling="protobuf")
    assert_same(by_onnx(text), model.to_proto())
    assert load_model(text) == model


def test_a_graph_inside_a_node_is_respelt_too():
    net = Network.build(
        inputs=2,
        outputs=[3],
        neurons=[{"id": 2, "activation": "sin"}, {"id": 3, "activation": "tanh"}],
        connections=[
            (0, 2, 1.0),
            (1, 3, -0.5),
            {"source": 2, "target": 3, "weight": 0.1, "delay": 1},
            {"source": 3, "target": 2, "weight": 0.3, "delay": 1},
        ],
    )
    model = export(net, dtype="float64", sequence=True)
    assert "Scan" in {node.op_type for node in model.graph.node}
    assert_same(by_onnx(model.to_json(spelling="protobuf")), model.to_proto())


def test_numbers_are_numbers_and_only_long_integers_are_text():
    document = export(NETWORKS["evolved_mixed"]).to_document(spelling="protobuf")
    assert document["irVersion"] == "8"
    assert document["opsetImport"] == [{"version": "18"}] or document["opsetImport"][0]["version"]
    tensors = {tensor["name"]: tensor for tensor in document["graph"]["initializer"]}
    assert all("rawData" not in tensor for tensor in tensors.values())
    for tensor in tensors.values():
        assert all(type(value) is str for value in tensor["dims"])
        assert all(type(value) is str for value in tensor.get("int64Data", []))
        assert all(type(value) is float for value in tensor.get("floatData", []))


def test_saving_and_the_command_line(tmp_path):
    net = NETWORKS["evolved_mixed"]
    model = export(net)
    model.save(tmp_path / "net.onnx.json", spelling="protobuf")
    assert_same(onnx.load_model(tmp_path / "net.onnx.json", format="json"), model.to_proto())
    net.save(tmp_path / "net.json")
    line = ["export", str(tmp_path / "net.json"), str(tmp_path / "cli.json")]
    assert main([*line, "--spelling", "protobuf"]) == 0
    assert (tmp_path / "cli.json").read_bytes() == (tmp_path / "net.onnx.json").read_bytes()
    line = ["convert", str(tmp_path / "cli.json"), str(tmp_path / "back.json")]
    assert main(line) == 0
    assert (tmp_path / "back.json").read_text() == model.to_json()
    assert json.loads((tmp_path / "back.json").read_text())["graph"]["inputs"]


def test_what_does_not_go_together_is_refused():
    model = export(NETWORKS["evolved_mixed"])
    with pytest.raises(OptionError, match="spelling is 'french', expected"):
        model.to_json(spelling="french")
    with pytest.raises(OptionError, match="encoding is 'sparse', expected"):
        model.to_json(spelling="protobuf", encoding="sparse")


@pytest.mark.parametrize("form", ["textproto", "onnxtxt", "json"])
def test_the_text_forms_of_onnx_are_read(form, tmp_path):
    model = export(Network.mlp([2, 3, 1], activation="tanh", seed=0), include_metadata=False)
    path = tmp_path / f"model.{form}"
    onnx.save_model(model.to_proto(), path, format=form)
    read = load_model(path)
    assert is_model(path.read_bytes()) or form == "json"
    want, got = model.to_proto(), read.to_proto()
    assert list(got.graph.node) == list(want.graph.node) or form == "onnxtxt"
    assert [node.op_type for node in got.graph.node] == [node.op_type for node in want.graph.node]
    x = np.array([[0.3, -0.7]], np.float32)
    one, other = (ReferenceEvaluator(each).run(None, {"input": x})[0]
                  for each in (want, got))  # fmt: skip
    np.testing.assert_allclose(one, other, rtol=1e-5)


LARGE = b"""<ir_version: 8, opset_import: ["": 18]>
g (float[N, 1] x) => (float[N, 1] y) <float[1] w = {1e400}> { y = Mul(x, w) }"""


TEXTS = [b"<ir_version: 8", b"ir_version: 8 graph: 5", b"graph { nodes {} }", LARGE]


@pytest.mark.parametrize("text", [*TEXTS, LARGE.replace(b"18", b"9" * 20)])
def test_text_that_is_no_model_is_told(text):
    with pytest.raises(ModelError, match="not a valid ONNX text"):
        load_model(text)
