"""The three spellings of JSON ONNX, the foreign two written by onnx and protobuf themselves."""

import json

import numpy as np
import onnx
import pytest
from google.protobuf import json_format
from onnx import helper, numpy_helper
from sample_models import mlp

from neat_onnx.errors import ModelError
from neat_onnx.model import load_model


@pytest.fixture
def proto():
    """Every kind of attribute that the dense operators have, all forms of numbers."""
    return helper.make_model(
        helper.make_graph(
            [
                helper.make_node(
                    "Constant", [], ["c"], value=numpy_helper.from_array(np.float32([[1], [2]]))
                ),
                helper.make_node("Concat", ["x", "c"], ["xc"], axis=1, name="join"),
                helper.make_node("Gemm", ["xc", "W"], ["z"], alpha=2.5, transB=1),
                helper.make_node("Clip", ["z", "", "high"], ["t"]),
                helper.make_node("Transpose", ["t"], ["y"], perm=[1, 0]),
            ],
            "spelled",
            [helper.make_tensor_value_info("x", 1, ["N", 2])],
            [helper.make_tensor_value_info("y", 1, [None, 3])],
            [
                helper.make_tensor("W", 1, [3, 3], np.arange(9) / 8),
                numpy_helper.from_array(np.float32(6), "high"),
                helper.make_tensor("k", 7, [2], [2**62, -1]),
                helper.make_tensor("b", 9, [2], [True, False]),
            ],
            value_info=[helper.make_tensor_value_info("z", 1, None)],
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=8,
        producer_name="onnx",
        model_version=3,
    )


def test_all_spellings_say_the_same(proto, tmp_path):
    onnx.save_model(proto, tmp_path / "official.json")
    camel = json.loads(json_format.MessageToJson(proto))
    assert "irVersion" in camel
    binary = load_model(proto)
    assert load_model(tmp_path / "official.json") == binary
    assert load_model(camel) == binary
    assert load_model(binary.to_json()) == binary
    assert [node.op_type for node in binary.graph.node][:2] == ["Constant", "Concat"]
    assert binary.graph.tensors["k"].values.tolist() == [2**62, -1]


def test_text_is_base64_under_attribute_and_plain_under_attributes():
    class_name = "Probe2"
    from neat_onnx.model import Attributes, Node, node_classes

    class Probe2Attributes(Attributes):
        mode: str = ""

    class Probe2(Node):
        attributes: Probe2Attributes = Probe2Attributes.defaults()

    try:
        entry = {"name": "mode", "type": "STRING", "s": "VkFMSUQ="}
        for key, wanted in (("attribute", "VALID"), ("attributes", "VkFMSUQ=")):
            node = {"op_type": class_name, "input": ["x"], "output": ["y"], key: [entry]}
            model = load_model({"graph": {"outputs": [], "node": [node]}})
            assert model.graph.node[0].attributes.mode == wanted
        node = {"opType": class_name, "attribute": [{"name": "mode", "s": "nearest!"}]}
        with pytest.raises(
            ModelError, match=r"text is not base64 \(graph.node\[0\].attributes\[0\]\)"
        ):
            load_model({"graph": {"outputs": [], "node": [node]}})
    finally:
        del node_classes.__globals__["_REGISTRY"][class_name]


def test_a_key_in_two_spellings_is_refused():
    document = mlp().to_document()
    with pytest.raises(ModelError, match="'inputs' is given in two spellings"):
        load_model({"graph": {**document["graph"], "input": []}})


def test_fields_that_compute_nothing_are_dropped_and_others_are_refused():
    document = mlp().to_document()
    graph = {**document["graph"], "value_info": [], "quantization_annotation": []}
    assert load_model({**document, "graph": graph, "training_info": []}) == mlp()
    graph = {**document["graph"], "sparse_initializer": []}
    with pytest.raises(ModelError, match="sparse_initializer is not a known key"):
        load_model({**document, "graph": graph})
