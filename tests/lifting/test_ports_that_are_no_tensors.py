"""Maps, sequences and texts among a graph's inputs and outputs."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from policies import policy
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import (
    ModelError,
    NeatOnnxWarning,
    import_model,
)


def classifier() -> ModelProto:
    """As skl2onnx shapes a classifier: labels that are texts, and a list of maps."""
    nodes = [
        node("MatMul", "x W", "sum"),
        node("Sigmoid", "sum", "table"),
        node("ArgMax", "table", "best", axis=1),
        node("ArrayFeatureExtractor", "texts best", "label", domain="ai.onnx.ml"),
        node("ZipMap", "table", "probability", domain="ai.onnx.ml", classlabels_int64s=[0, 1, 2]),
    ]
    model = policy(nodes, {"x": ["N", 3]}, {})
    text = helper.make_tensor_value_info("label", TensorProto.STRING, ["N"])
    numbers = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.INT64, numbers))
    model.graph.output.extend([text, helper.make_value_info("probability", maps)])
    words = np.array([b"a", b"b", b"c"], object)
    model.graph.initializer.append(numpy_helper.from_array(words, "texts"))
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    return model


@pytest.mark.parametrize("field", ["input", "output"])
def test_maps_of_nothing_are_refused_by_name(field):
    model = classifier()
    del getattr(model.graph.node[-1], field)[:]
    with pytest.raises(ModelError):
        import_model(model)


def test_maps_of_classes_are_tables_and_texts_are_left_out():
    model = classifier()
    with pytest.warns(NeatOnnxWarning) as caught:
        net = import_model(model)
    reply = " ".join(str(each.message) for each in caught)
    assert "'probability' is a list of maps" in reply
    assert "'label' is text, and is left out" in reply
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    session = open_session(model)
    (maps,) = session.run(["probability"], {"x": x})
    want = [list(each.values()) for each in maps]
    np.testing.assert_allclose(net.activate(x), want, rtol=1e-6)
    assert len(model.graph.output) == 2


def test_sequences_are_left_out():
    made = [node("Relu", "x", "y"), node("SequenceConstruct", "y x", "both")]
    model = policy(made, {"x": ["N", 3]}, {"y": ["N", 3]})
    numbers = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 3])
    sequence = helper.make_value_info("both", helper.make_sequence_type_proto(numbers))
    model.graph.output.append(sequence)
    for outputs in (None, ["y"]):
        with pytest.warns(NeatOnnxWarning, match="'both' is a sequence, and is left out"):
            net = import_model(model, outputs=outputs)
        np.testing.assert_array_equal(net.activate([[-1.0, 0.0, 2.0]]), [[0.0, 0.0, 2.0]])
    del model.graph.output[0]
    with pytest.raises(ModelError, match="is a sequence, and only tensors"):
        import_model(model)


def test_inputs_of_text_are_left_out_with_the_outputs_that_need_them():
    """As ML.NET takes the label that it was trained on, and gives it back."""
    code = {"keys_strings": ["a", "b"], "values_int64s": [0, 1], "domain": "ai.onnx.ml"}
    made = [node("Relu", "x", "y"), node("LabelEncoder", "label", "code", **code)]
    model = policy(made, {"x": ["N", 3]}, {"y": ["N", 3]})
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    model.graph.input.append(helper.make_tensor_value_info("label", TensorProto.STRING, ["N"]))
    model.graph.output.append(helper.make_tensor_value_info("code", TensorProto.INT64, ["N"]))
    with pytest.warns(NeatOnnxWarning) as caught:
        net = import_model(model)
    reply = " ".join(str(each.message) for each in caught)
    assert "'code' is computed from text, and is left out" in reply
    assert "inputs left out are label" in reply
    np.testing.assert_array_equal(net.activate([[-1.0, 0.0, 2.0]]), [[0.0, 0.0, 2.0]])
    del model.graph.output[0]
    with pytest.raises(ModelError, match="label: elem_type 8"):
        import_model(model)
