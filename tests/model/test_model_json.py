import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from sample_models import mlp, models
from support.harness.sweep import count

from neat_onnx.errors import DocumentError, ModelError, OptionError
from neat_onnx.model import DataType, Graph, MetadataEntry, Model, Tensor, load_model

LAID_OUT = """\
{
 "ir_version": 8,
 "opset_import": [{"version": 18}],
 "producer_name": "test",
 "metadata_props": [{"key": "layer_sizes", "value": "[]"}],
 "graph": {
  "name": "mlp",
  "inputs": [
   {
    "name": "input",
    "type": {
     "tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_param": "N"}, {"dim_value": 2}]}}
    }
   }
  ],
  "outputs": [
   {
    "name": "output",
    "type": {
     "tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_param": "N"}, {"dim_value": 1}]}}
    }
   }
  ],
  "initializer": [
   {"name": "W0", "data_type": 1, "dims": [1, 2], "float_data": [0.1, -0.0]},
   {"name": "B0", "data_type": 1, "dims": [1], "float_data": [0.0]}
  ],
  "node": [
   {
    "op_type": "Gemm",
    "name": "gemm_1",
    "input": ["input", "W0", "B0"],
    "output": ["Gemm_1"],
    "attributes": [
     {"name": "alpha", "type": "FLOAT", "f": 2.5},
     {"name": "transB", "type": "INT", "i": 1}
    ]
   },
   {"op_type": "Tanh", "name": "tanh_1", "input": ["Gemm_1"], "output": ["output"]}
  ]
 }
}
"""


def test_the_layout_is_for_people():
    assert mlp([[0.1, -0.0]]).to_json() == LAID_OUT


@settings(max_examples=count(25, 60), deadline=None)
@given(models())
def test_json_gives_the_same_model_back(model):
    text = model.to_json()
    assert text.isascii()
    assert text.endswith("}\n")
    assert json.loads(text) == model.to_document() == json.loads(model.to_json(indent=False))
    for source in (text, text.encode(), "\ufeff" + text, model.to_document()):
        assert load_model(source) == model
    assert load_model(text).to_json() == text


def test_raw_encoding_rounds_FLOAT_and_keeps_DOUBLE():
    rounded = load_model(mlp().to_json(encoding="raw")).graph.tensors["W0"].values
    assert rounded.tolist() == mlp().graph.tensors["W0"].values.astype(np.float32).tolist()
    double = mlp(data_type=DataType.DOUBLE)
    assert load_model(double.to_json(encoding="raw")) == double


def test_no_python_is_run_for_each_number():
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    model = mlp(np.linspace(-1, 1, 100_000).reshape(10, 10_000))
    sys.setprofile(count)
    try:
        assert load_model(model.to_json()) == model
    finally:
        sys.setprofile(None)
    assert calls < 1000


def test_files_are_told_apart_by_their_ending_and_their_content(tmp_path):
    model = mlp(np.ones((2, 2)))
    for name in ("net.onnx", "net.onnx.json", "NET.JSON"):
        model.save(tmp_path / name)
        assert load_model(tmp_path / name).graph.node == model.graph.node
        assert load_model(str(tmp_path / name)) == load_model((tmp_path / name).read_bytes())
    with pytest.raises(OptionError, match="cannot tell the format from the ending '\\.txt'"):
        model.save(tmp_path / "net.txt")
    assert not (tmp_path / "net.txt").exists()


def test_a_failed_save_leaves_nothing_behind(tmp_path):
    with pytest.raises(ModelError, match="too large for float32"):
        mlp([[1e300]]).save(tmp_path / "net.onnx")
    assert not list(tmp_path.iterdir())


def test_only_the_graph_is_required():
    model = load_model({"graph": {"outputs": []}})
    assert (model.ir_version, model.opset, model.metadata) == (None, 18, {})
    assert model.to_document() == {"graph": {"outputs": []}}


def test_metadata_is_a_dict_in_which_the_first_of_a_key_counts():
    entries = [MetadataEntry(key="k", value=value) for value in "ab"]
    assert Model(metadata_props=entries, graph=Graph(outputs=[])).metadata == {"k": "a"}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (7, "cannot read a model from a int"),
        ("nowhere.onnx", "cannot read the file"),
        ("{", "invalid JSON"),
        (b'{"a": 1, "a": 2}', "the key 'a' occurs twice"),
    ],
)
def test_what_is_no_document_is_a_DocumentError(source, text):
    with pytest.raises(DocumentError, match=text):
        load_model(source)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"graph": None}, "not an ONNX model: it has no graph"),
        ({"graph": {}}, "outputs is missing (graph.outputs)"),
        ({"colour": 1}, "colour is not a known key (colour)"),
        ({"ir_version": "x"}, "ir_version is not an integer (ir_version)"),
        ({"ir_version": 0}, "ir_version is 0, expected at least 1 (ir_version)"),
        ({"opset_import": [{"version": 999}]}, "opset 999 not supported, the newest is 28"),
        ({"opset_import": [{"domain": ""}]}, "version is missing (opset_import[0].version)"),
        ({"metadata_props": {"key": "v"}}, "metadata_props is not a list (metadata_props)"),
        ({"metadata_props": [{"key": "k", "value": 1}]}, "value is not a string"),
        ({"functions": [{"name": "f"}]}, "local functions are read of binary ONNX alone"),
    ],
)
def test_what_is_no_model_is_a_ModelError(change, text):
    with pytest.raises(ModelError) as refused:
        load_model({**mlp().to_document(), **change})
    assert text in str(refused.value)


def graph_with(**change):
    document = mlp().to_document()
    return {**document, "graph": {**document["graph"], **change}}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"initializer": [Tensor.of("W", [1.0]).model_dump()] * 2}, "duplicate initializer 'W'"),
        ({"initializer": [Tensor.of("", [1.0]).model_dump()]}, "initializer 0 has no name"),
        ({"initializer": [None]}, "initializer[0] is not an object"),
        (
            {"initializer": [{"name": "W", "data_type": 1, "dims": [1], "float_data": [None]}]},
            "initializer W: float_data[0] is null (graph.initializer[0])",
        ),
        (
            {"inputs": [{"name": "x", "type": {"tensor_type": {"elem_type": 8}}}]},
            "graph input x: elem_type 8 (STRING) not supported: encode texts as numbers outside of "
            "the model (graph.inputs[0].type.tensor_type.elem_type)",
        ),
        (
            {"outputs": [{"name": "y", "type": {"sequence_type": {}}}]},
            "graph output y: is a sequence",
        ),
        ({"outputs": [{"name": ""}]}, "name"),
        ({"node": {}}, "node is not a list"),
    ],
)
def test_what_is_no_graph_says_where(change, text):
    with pytest.raises(ModelError) as refused:
        load_model(graph_with(**change))
    assert text in str(refused.value)


def test_messages_show_no_metadata():
    secret = "s3cret" * 10
    with pytest.raises(ModelError) as refused:
        load_model(
            {"graph": {"outputs": []}, "metadata_props": [{"key": [secret], "value": secret}]}
        )
    assert "s3cret" not in str(refused.value)
