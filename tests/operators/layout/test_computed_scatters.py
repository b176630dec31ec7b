"""ScatterElements and ScatterND at places that are inputs, against onnxruntime."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.harness.sessions import open_session

from neat_onnx import ModelError, export, import_model

REDUCTIONS = ["none", "add", "mul", "max", "min"]


def scatter(operator: str, x: list, i: list, u: list, **given: object) -> onnx.ModelProto:
    node = helper.make_node(operator, ["x", "i", "u"], ["y"], "scatter", **given)
    kinds = {"x": TensorProto.FLOAT, "i": TensorProto.INT64, "u": TensorProto.FLOAT}
    shapes = {"x": x, "i": i, "u": u}
    inputs = [helper.make_tensor_value_info(name, kinds[name], shapes[name]) for name in "xiu"]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, x)]
    graph = helper.make_graph([node], "g", inputs, outputs)
    opset = helper.make_opsetid("", 18)
    return helper.make_model(graph, opset_imports=[opset], ir_version=8)


def assert_equal(
    model: onnx.ModelProto, net_axis: str | None, places: np.ndarray, x: tuple, u: tuple
) -> None:
    net = import_model(model, batch_axis=net_axis)
    rng = np.random.default_rng(0)
    fed = {
        "x": rng.normal(size=x).astype(np.float32),
        "i": places,
        "u": rng.normal(size=u).astype(np.float32),
    }
    (want,) = open_session(model).run(None, fed)
    (back,) = open_session(export(net).to_proto()).run(None, fed)
    got = net.activate(fed)["y"]
    np.testing.assert_allclose(np.reshape(got, want.shape), want, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(back, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatter_elements_of_each_sample(reduction: str):
    shapes = ["N", 5], ["N", 2], ["N", 2]
    model = scatter("ScatterElements", *shapes, axis=1, reduction=reduction)
    places = np.array([[0, 4], [-1, 2], [3, -5]])
    assert_equal(model, "auto", places, (3, 5), (3, 2))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    ("depth", "places"), [(1, [[2], [-4]]), (2, [[1, -1], [0, 2]]), (2, [[3, 0], [3, 1]])]
)
def test_scatter_nd_without_a_batch(depth: int, places: list, reduction: str):
    updates = [2] if depth == 2 else [2, 3]
    model = scatter("ScatterND", [4, 3], [2, depth], updates, reduction=reduction)
    assert_equal(model, None, np.array(places), (4, 3), tuple(updates))


def test_equal_places_are_joined_one_after_the_other():
    model = scatter("ScatterND", [4], [3, 1], [3], reduction="add")
    assert_equal(model, None, np.array([[1], [1], [1]]), (4,), (3,))


def test_places_of_each_sample_are_refused_by_name():
    model = scatter("ScatterND", ["N", 3], [2, 1], [2, 3])
    with pytest.raises(ModelError, match=r"scatter \(ScatterND\): it works along the batch"):
        import_model(model)


def test_updates_that_are_fewer_than_elements_are_refused_by_name():
    model = scatter("ScatterElements", [4, 3], [2, 2], [2, 2], axis=0)
    with pytest.raises(ModelError, match="do not go with its data"):
        import_model(model, batch_axis=None)
