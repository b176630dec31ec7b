"""Normalizer, Scaler and Imputer, against onnxruntime: what they become, and come back as."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.examples.ml_models import WEIGHTS, X, model
from support.harness.sessions import open_session

from neat_onnx import ModelError, export, import_model, load_model, verify


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_a_normalizer_comes_back_in_few_nodes_with_its_genome(norm):
    net = import_model(model("Normalizer", norm=norm))
    again = export(net)
    assert len(again.graph.node) <= 12
    assert verify(net, again, samples=16, runtime="onnxruntime").passed
    (y,) = open_session(again.to_proto()).run(None, {"x": X})
    np.testing.assert_allclose(y, import_model(again).activate({"x": X})["y"], atol=1e-6)
    assert import_model(again.to_json()) == net


def test_probabilities_that_add_up_to_1_are_not_normalized_again():
    made = model("LinearClassifier", 2, coefficients=WEIGHTS, intercepts=[0.1, 0.2, 0.3],
                 classlabels_ints=[0, 1, 2], post_transform="SOFTMAX")  # fmt: skip
    made.graph.node.append(
        helper.make_node("Normalizer", ["y"], ["z"], domain="ai.onnx.ml", norm="L1")
    )
    made.graph.output[1].name = "z"
    net = import_model(made)
    written = export(net)
    assert [each.op_type for each in written.graph.node].count("Softmax") == 1
    assert len(written.graph.node) == 3
    assert verify(net, made, runtime="onnxruntime").passed
    assert import_model(written.to_bytes()).neurons.id.tolist() == net.neurons.id.tolist()


def test_a_scaler_is_written_element_by_element():
    made = model("Scaler", offset=[1.0, 0.0, -2.0, 0.5] * 2, scale=[0.5, 2.0, 1.0, -1.0] * 2)
    made.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 8
    net = import_model(made)
    assert len(net) == 16
    written = export(net)
    assert "Gemm" not in [each.op_type for each in written.graph.node]
    assert verify(net, written, runtime="onnxruntime").passed


@pytest.mark.parametrize("opset", [9, 18])
def test_an_imputer_puts_numbers_for_nan(opset: int):
    x = X.copy()
    x[::3, 0] = x[1::3, 3] = np.nan
    attributes = {"imputed_value_floats": [2.5, 0, 0, -1.5], "replaced_value_float": np.nan}
    whole = model("Imputer", **attributes)
    whole.opset_import[0].version = opset
    (want,) = open_session(whole).run(None, {"x": x})
    text = load_model(whole).to_json()
    assert '"f":"NaN"' in text.replace(" ", "")
    for given in (whole, load_model(text), load_model(load_model(text).to_bytes())):
        net = import_model(given)
        np.testing.assert_array_equal(net.activate({"x": x})["y"], want)
    (back,) = open_session(export(net)).run(None, {"x": x})
    np.testing.assert_array_equal(back, want)


def test_an_imputer_puts_a_number_for_infinity():
    x = X.copy()
    x[::3, 1] = np.inf
    x[1::3, 2] = -np.inf
    whole = model("Imputer", imputed_value_floats=[2.5], replaced_value_float=np.inf)
    (want,) = open_session(whole).run(None, {"x": x})
    net = import_model(whole)
    np.testing.assert_array_equal(net.activate({"x": x})["y"], want)
    (back,) = open_session(export(net)).run(None, {"x": x})
    np.testing.assert_array_equal(back, want)


def test_a_vector_is_not_normalized_over_the_samples():
    """Of labels, that have no second axis, a Normalizer makes one row."""
    whole = model("LinearClassifier", 2, coefficients=WEIGHTS[:8], classlabels_ints=[3, 5],
                  intercepts=[0.0, 0.1])  # fmt: skip
    made = helper.make_node("Normalizer", ["label"], ["z"], domain="ai.onnx.ml", norm="L1")
    whole.graph.node.append(made)
    whole.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, None))
    with pytest.raises(ModelError, match=r"\(Normalizer\): it works along the batch"):
        import_model(whole, check=False)
