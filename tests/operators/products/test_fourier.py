"""DFT, STFT and windows, against onnxruntime."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import export, import_model, verify


def assert_transforms(model):
    """Assert that a network gives what onnxruntime gives, as closely as its float32 does."""
    net = import_model(model)
    sizes = [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim][1:]
    x = np.random.default_rng(0).normal(size=(6, *sizes)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    np.testing.assert_allclose(net.activate({"x": x})["y"], want, rtol=1e-5, atol=2e-5)
    return net


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("length", [None, 4, 7, 9])
@pytest.mark.parametrize("attributes", [{}, {"inverse": 1}, {"onesided": 1}])
def test_a_transform_is_that_of_onnxruntime(parts, length, attributes):
    if parts == 2 and "onesided" in attributes:
        return  # runtimes have it for real numbers alone
    given = {} if length is None else {"n": np.array(length)}
    reads = "x" if length is None else "x n"
    for axis in (1, 2, -2, -3):
        nodes = [node("DFT", reads, "y", axis=axis, **attributes)]
        model = graph(nodes, x=("N", 7, 5, parts), opset=17, **given)
        assert_transforms(model)


@pytest.mark.parametrize("axis", [None, 1, -3])
def test_the_axis_is_an_input_from_opset_20_on(axis):
    given = {} if axis is None else {"axis": np.array(axis)}
    nodes = [node("DFT", "x _ axis" if given else "x", "y", inverse=1)]
    net = assert_transforms(graph(nodes, x=("N", 7, 5, 2), opset=20, **given))
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_half_of_the_frequencies_become_real_numbers():
    model = graph([node("DFT", "x", "y", inverse=1, onesided=1)], x=("N", 5, 2), opset=20)
    x = np.random.default_rng(0).normal(size=(4, 5, 2))
    want = np.fft.irfft(x[..., 0] + 1j * x[..., 1], axis=1)[..., None]
    np.testing.assert_allclose(import_model(model).activate({"x": x})["y"], want, atol=1e-12)


@pytest.mark.parametrize("operator", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("periodic", [0, 1])
def test_windows_are_constants(operator, periodic):
    nodes = [node(operator, "size", "w", periodic=periodic), node("Mul", "x w", "y")]
    assert_lifts(graph(nodes, x=("N", 10), opset=17, size=np.array(10)))
