"""Probabilities of support vectors, against onnxruntime, wherever its iteration stops."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.harness.sessions import open_session

from neat_onnx import import_model, verify


def classifier(features: int, **attributes: Any) -> Any:
    node = helper.make_node(
        "SVMClassifier", ["x"], ["label", "y"], domain="ai.onnx.ml", kernel_type="LINEAR",
        kernel_params=[0.0] * 3, **attributes,
    )  # fmt: skip
    value = helper.make_tensor_value_info
    outputs = [value("label", TensorProto.INT64, None), value("y", TensorProto.FLOAT, None)]
    inputs = [value("x", TensorProto.FLOAT, ["N", features])]
    graph = helper.make_graph([node], "graph", inputs, outputs)
    ids = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=ids, ir_version=8)


@pytest.mark.parametrize(("slope", "shift"), [(-1.0, 0.0), (1.5, -0.25), (-40.0, 5.0)])
def test_probabilities_of_two_labels_wherever_the_coupling_stops(slope: float, shift: float):
    whole = classifier(4, support_vectors=[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
                       coefficients=[1.0, 0.25], classlabels_ints=[4, 2], vectors_per_class=[1, 1],
                       rho=[0.125], prob_a=[slope], prob_b=[shift])  # fmt: skip
    x = np.zeros((4001, 4), np.float32)
    x[:, 0] = np.linspace(-8.0, 8.0, len(x))
    want, probabilities = open_session(whole).run(None, {"x": x})
    assert np.count_nonzero(probabilities == 0.5) >= 2
    got = import_model(whole).activate({"x": x})
    np.testing.assert_array_equal(got["label"], want)
    np.testing.assert_allclose(got["y"], probabilities, rtol=0.0, atol=3e-6)


def of_many(labels: int) -> Any:
    rng, pairs = np.random.default_rng(labels), labels * (labels - 1) // 2
    return classifier(
        pairs, support_vectors=rng.normal(size=labels * pairs).tolist(),
        coefficients=rng.normal(size=(labels - 1) * labels).tolist(), rho=[0.0] * pairs,
        classlabels_ints=range(labels), vectors_per_class=[1] * labels,
        prob_a=rng.normal(size=pairs).tolist(), prob_b=[0.0] * pairs,
    )  # fmt: skip


@pytest.mark.parametrize("labels", [3, 5, 8])
def test_probabilities_of_many_labels_wherever_the_coupling_stops(labels: int):
    """One feature for each pair, of many sizes, so that some samples need each number of sweeps."""
    rng, whole = np.random.default_rng(labels), of_many(labels)
    pairs = labels * (labels - 1) // 2
    x = rng.normal(size=(2000, pairs)) * np.geomspace(1e-4, 30.0, 2000)[:, None]
    want, probabilities = open_session(whole).run(None, {"x": x.astype(np.float32)})
    assert np.count_nonzero(np.ptp(probabilities, axis=1) == 0.0) > 2
    got = import_model(whole).activate({"x": x.astype(np.float32)})
    np.testing.assert_array_equal(got["label"], want)
    np.testing.assert_allclose(got["y"], probabilities, rtol=0.0, atol=1e-5)


def test_a_corrected_evaluator_gives_the_same_probabilities():
    """Where onnxruntime is not installed, as on the page; onnx's own differs (1.23)."""
    whole = of_many(4)
    net = import_model(whole)
    for runtime in ("reference", "onnxruntime"):
        assert verify(net, whole, samples=64, runtime=runtime).passed
