"""Outputs whose first axis has several rows for each sample, as in [samples · steps, features]."""

import numpy as np
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, NeatOnnxWarning, export, import_model, verify

W = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
PRODUCT = node("MatMul", "x W", "h")
STACKED = {
    "steps of a sequence": (
        [node("Reshape", "x s", "rows"), node("MatMul", "rows W", "h"), node("Relu", "h", "y")],
        {"x": ("N", 4, 3), "s": [-1, 3], "W": W},
        (4, 5),
    ),
    "a column of targets": (
        [PRODUCT, node("Reshape", "h s", "y")],
        {"s": [-1, 1], "W": W},
        (5, 1),
    ),
    "a vector": ([PRODUCT, node("Reshape", "h s", "y")], {"s": [-1], "W": W}, (5,)),
    "a vector beside matrices": (
        [PRODUCT, node("Reshape", "h s", "v"), node("Mul", "v half", "y")],
        {"s": [-1], "W": W, "half": [0.5]},
        (5,),
    ),
}


@pytest.mark.parametrize("name", STACKED)
def test_the_samples_get_an_axis_of_their_own(name: str):
    nodes, tensors, shape = STACKED[name]
    model = graph(nodes, **tensors)
    with pytest.warns(NeatOnnxWarning, match=rf"'y' has {shape[0]} rows for each sample"):
        net = import_model(model)
    assert net.outputs[0].shape == shape
    x = np.random.default_rng(1).normal(size=(6, *net.inputs[0].shape)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    assert want.shape == (6 * shape[0], *shape[1:])
    np.testing.assert_allclose(net.activate({"x": x})["y"].reshape(want.shape), want, rtol=1e-5)
    (got,) = open_session(export(net)).run(None, {"x": x})
    assert got.shape == (6, *shape)
    np.testing.assert_allclose(got.reshape(want.shape), want, rtol=1e-5)
    assert import_model(export(net)) == net


@pytest.mark.parametrize("runtime", ["reference", "onnxruntime"])
def test_verify_compares_them_row_by_row(runtime: str):
    nodes, tensors, _ = STACKED["a column of targets"]
    model = graph(nodes, **tensors)
    with pytest.warns(NeatOnnxWarning):
        net = import_model(model, check=False)
    assert verify(net, model, runtime=runtime).passed
    turned = graph(nodes, **(tensors | {"W": W[:, ::-1]}))
    assert not verify(net, turned, runtime=runtime).passed


def test_rows_of_all_samples_step_by_step_are_refused():
    """[steps · samples, features]: the rows of a sample are apart."""
    nodes = [node("Transpose", "x", "turned", perm=[1, 0, 2]), node("Reshape", "turned s", "y")]
    with pytest.raises(ModelError, match="first axis of output 'y' is not the batch"):
        import_model(graph(nodes, x=("N", 4, 3), s=[-1, 3]))


def test_with_a_fixed_batch_every_axis_is_features():
    nodes, tensors, _ = STACKED["a column of targets"]
    model = graph(nodes, x=(2, 3), **tensors)
    with pytest.warns(NeatOnnxWarning, match="every axis is taken for features"):
        assert import_model(model).outputs[0].shape == (10, 1)
