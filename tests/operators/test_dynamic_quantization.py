"""DynamicQuantizeLinear, as onnxruntime's quantize_dynamic puts it before products of integers."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from sessions import open_session

from neat_onnx import ModelError, export, import_model, verify

RNG = np.random.default_rng(0)


def layer(x: str, y: str, weights: np.ndarray, scale: float) -> tuple[list, list]:
    """A product in steps of 8 bits, and its initializers."""
    nodes = [
        helper.make_node("DynamicQuantizeLinear", [x], [f"{y}_q", f"{y}_s", f"{y}_z"]),
        helper.make_node("MatMulInteger", [f"{y}_q", f"{y}_w", f"{y}_z", f"{y}_wz"], [f"{y}_i"]),
        helper.make_node("Cast", [f"{y}_i"], [f"{y}_f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{y}_s", f"{y}_ws"], [f"{y}_both"]),
        helper.make_node("Mul", [f"{y}_f", f"{y}_both"], [y]),
    ]
    tensors = {f"{y}_w": weights, f"{y}_wz": np.int8(3), f"{y}_ws": np.float32(scale)}
    return nodes, [numpy_helper.from_array(np.asarray(v), name) for name, v in tensors.items()]


def perceptron(batch) -> onnx.ModelProto:
    first = layer("x", "h", RNG.integers(-127, 127, (6, 9)).astype(np.int8), 0.01)
    second = layer("r", "y", RNG.integers(-127, 127, (9, 2)).astype(np.int8), 0.02)
    nodes = [*first[0], helper.make_node("Relu", ["h"], ["r"]), *second[0]]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [batch, size])
        for name, size in (("x", 6), ("y", 2))
    ]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], [*first[1], *second[1]])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("batch", [1, "N"])
def test_one_sample_is_what_the_model_computes(batch):
    model = perceptron(batch)
    net = import_model(model, batch_axis=None)
    session = open_session(model)
    for x in (*RNG.normal(size=(9, 1, 6)), np.zeros((1, 6)), np.abs(RNG.normal(size=(1, 6)))):
        (want,) = session.run(None, {"x": x.astype(np.float32)})
        got = net.activate({"x": x.astype(np.float32)})["y"]
        np.testing.assert_allclose(got.ravel(), want.ravel(), rtol=1e-5, atol=1e-5)
    assert verify(net, model, runtime="onnxruntime", samples=32).passed
    written = export(net)
    assert verify(net, written, samples=32).passed
    assert import_model(written) == net


def test_samples_of_a_batch_share_the_range():
    with pytest.raises(ModelError, match="would mix samples") as raised:
        import_model(perceptron("N"))
    assert "batch_axis=None" in str(raised.value)


def test_steps_that_are_an_output_are_refused():
    """onnx's own case has -2.5 in a range of 5: 127.5 steps, but for the scale's rounding."""
    model = perceptron(1)
    model.graph.output.append(helper.make_tensor_value_info("h_q", TensorProto.UINT8, [1, 6]))
    with pytest.raises(ModelError, match="'h_q', are an output"):
        import_model(model, batch_axis=None)
