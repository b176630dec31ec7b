"""Labels and categories of ai.onnx.ml, against onnxruntime."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.ml_models import WEIGHTS, X, model
from support.harness.sessions import open_session

from neat_onnx import ModelError, export, import_model, verify


@pytest.mark.parametrize(
    ("labels", "most"), [([0, 1, 2, 3], 4), ([5, 3, 1, -1], 4), ([0, 2, 1, 3], 12)]
)
def test_labels_in_even_steps_are_made_of_the_place_itself(labels, most):
    """And an integer that was a float in between is one still: nothing is cut off."""
    nodes = [
        helper.make_node("ArgMax", ["x"], ["place"], axis=1),
        helper.make_node("ArrayFeatureExtractor", ["l", "place"], ["f"], domain="ai.onnx.ml"),
        helper.make_node("Cast", ["f"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["c", "s"], ["r"]),
        helper.make_node("Cast", ["r"], ["label"], to=TensorProto.INT64),
    ]
    whole = model("Scaler", offset=[0.0], scale=[1.0])
    del whole.graph.node[:], whole.graph.output[:]
    whole.graph.node.extend(nodes)
    whole.graph.output.append(helper.make_tensor_value_info("label", TensorProto.INT64, None))
    whole.graph.initializer.extend(
        [helper.make_tensor("l", TensorProto.INT32, [1, 4], labels),
         helper.make_tensor("s", TensorProto.INT64, [1], [-1])]
    )  # fmt: skip
    net = import_model(whole)
    (want,) = open_session(whole).run(None, {"x": X})
    np.testing.assert_array_equal(net.activate({"x": X})["label"].ravel(), want)
    assert len(net) <= 4 + 1 + 4 + 3 + most
    assert not any("floor" in name for name in net.activations)
    assert import_model(export(net).to_json()) == net


def test_categories_alone_are_drawn_for_an_encoder_that_takes_no_others():
    made = model("OneHotEncoder", cats_int64s=[2, 0, 1], zeros=0)
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    net = import_model(made)
    report = verify(net, made, runtime="onnxruntime")
    assert report.passed
    assert verify(net, export(net), runtime="onnxruntime").passed


@pytest.mark.parametrize(("labels", "fits"), [([1, 2, 3], True), ([0, -1, 3], False)])
def test_labels_that_a_narrow_type_holds_are_cast_to_it(labels: list[int], fits: bool):
    """As ML.NET gives the labels that it predicts."""
    made = model("LinearClassifier", 2, coefficients=WEIGHTS, intercepts=[0.1, 0.2, 0.3],
                 classlabels_ints=labels)  # fmt: skip
    made.graph.node.append(helper.make_node("Cast", ["label"], ["key"], to=TensorProto.UINT32))
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("key", TensorProto.UINT32, None))
    if fits:
        assert verify(import_model(made), made, runtime="onnxruntime").passed
        return
    with pytest.raises(ModelError, match="cut off to the bits of UINT32"):
        import_model(made)


def test_categories_of_numbers_are_found_by_their_integers():
    """As Core ML's converter writes them: a Scaler of integers gives numbers before."""
    whole = model("OneHotEncoder", 1, cats_int64s=[-1, 0, 1, 3])
    x = np.float32([[-1.5, -0.5, 0.5, 1.0], [3.9, 4.0, 0.0, -1.0]])
    (want,) = open_session(whole).run(None, {"x": x})
    net = import_model(whole)
    (got,) = net.activate({"x": x}).values()
    np.testing.assert_array_equal(got, want)
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_labels_at_places_that_were_moved():
    nodes = [
        helper.make_node("TopK", ["x", "two"], ["best", "at"], axis=1),
        helper.make_node("Reshape", ["at", "flat"], ["places"]),
        helper.make_node("ArrayFeatureExtractor", ["labels", "places"], ["each"],
                         domain="ai.onnx.ml"),
        helper.make_node("Reshape", ["each", "pairs"], ["y"]),
    ]  # fmt: skip
    whole = model("Scaler", offset=[0.0], scale=[1.0])
    del whole.graph.node[:]
    whole.graph.node.extend(nodes)
    constants = {"two": np.array([2]), "flat": np.array([-1]), "pairs": np.array([-1, 2]),
                 "labels": np.array([[2.5, 7.0, 1.0, 4.0]], np.float32)}  # fmt: skip
    whole.graph.initializer.extend(
        numpy_helper.from_array(values, name) for name, values in constants.items()
    )
    (want,) = open_session(whole).run(None, {"x": X})
    got = import_model(whole).activate({"x": X})
    np.testing.assert_array_equal(got["y"], want)


def test_categories_become_places():
    whole = model("OneHotEncoder", cats_int64s=[2, 0, 7])
    whole.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    x = np.random.default_rng(2).integers(0, 9, (30, 4))
    (want,) = open_session(whole).run(None, {"x": x})
    np.testing.assert_array_equal(import_model(whole).activate({"x": x})["y"], want)
