"""DFT, STFT and windows, against onnxruntime."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, NeatOnnxWarning, export, import_model, verify

WINDOW = np.hanning(6).astype(np.float32)


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


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("given", ["window", "length", "both"])
def test_frames_are_transformed_as_in_onnxruntime(onesided, given):
    reads = {"window": "x step w", "length": "x step _ size", "both": "x step w size"}[given]
    constants = {"step": np.array(3), "w": WINDOW, "size": np.array(6)}
    nodes = [node("STFT", reads, "y", onesided=onesided)]
    net = assert_transforms(graph(nodes, x=("N", 20, 1), opset=17, **constants))
    again = export(net)
    assert verify(net, again, runtime="onnxruntime").passed
    assert import_model(again) == net


def test_a_signal_without_an_axis_of_parts_is_real():
    """As PyTorch's older exporter writes it, and onnxruntime reads it."""
    nodes = [node("STFT", "x step w", "y")]
    assert_transforms(graph(nodes, x=("N", 20), opset=17, step=np.array(3), w=WINDOW))


@pytest.mark.parametrize("operator", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("periodic", [0, 1])
def test_windows_are_constants(operator, periodic):
    nodes = [node(operator, "size", "w", periodic=periodic), node("Mul", "x w", "y")]
    assert_lifts(graph(nodes, x=("N", 10), opset=17, size=np.array(10)))


def test_the_weights_of_a_mel_spectrum_are_constants():
    constants = {
        "bins": np.array(4),
        "length": np.array(16),
        "rate": np.array(8000),
        "low": np.array(0.0),
        "high": np.array(4000.0),
    }
    nodes = [node("MelWeightMatrix", "bins length rate low high", "m"), node("MatMul", "x m", "y")]
    assert_lifts(graph(nodes, x=("N", 9), opset=17, **constants))


def test_a_transform_over_the_batch_is_refused():
    model = graph([node("DFT", "x axis", "y")], x=("N", 7, 2), opset=20, axis=np.array(0))
    model.graph.node[0].input[:] = ["x", "", "axis"]
    with pytest.raises(ModelError, match="along the batch"):
        import_model(model)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 3
    with pytest.warns(NeatOnnxWarning, match="every axis is taken for features"):
        assert import_model(model).input_neurons.size == 42


def test_frames_that_do_not_fit_are_refused():
    nodes = [node("STFT", "x step w", "y")]
    model = graph(nodes, x=("N", 4, 1), opset=17, step=np.array(2), w=WINDOW)
    with pytest.raises(ModelError, match="a frame of 6 elements does not fit a signal of 4"):
        import_model(model)
