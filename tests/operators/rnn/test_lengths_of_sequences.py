"""RNN, GRU and LSTM nodes whose sequences have computed lengths, as PyTorch's packed ones."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.rnn_cases import GATES, STATES
from support.harness.sessions import open_session
from support.harness.sweep import every

from neat_onnx import ModelError, export, import_model, verify

DIRECTIONS = ["forward", "reverse", "bidirectional"]


def _model(op: str, direction: str = "forward", steps: int | str = 3) -> onnx.ModelProto:
    """Sequences [N, steps, 2] of layers of two units, which begin with a state."""
    random, count = np.random.default_rng(1), 2 if direction == "bidirectional" else 1
    rows = 2 * GATES[op]
    tensors = {"W": (count, rows, 2), "R": (count, rows, 2), "B": (count, 2 * rows)}
    initializer = [
        numpy_helper.from_array(random.normal(size=shape).astype(np.float32), name)
        for name, shape in tensors.items()
    ]
    outputs = ["Y", "Y_h", "Y_c"][: 1 + STATES[op]]
    nodes = [
        helper.make_node("Transpose", ["x"], ["X"], perm=[1, 0, 2]),
        helper.make_node("Cast", ["length"], ["lengths"], to=TensorProto.INT32),
        helper.make_node(
            op, ["X", "W", "R", "B", "lengths"], outputs, hidden_size=2, direction=direction
        ),
        *(
            helper.make_node("Transpose", [name], [f"{name}_"], perm=[axis, *rest])
            for name, axis, rest in [("Y", 2, [0, 1, 3]), ("Y_h", 1, [0, 2]), ("Y_c", 1, [0, 2])]
            if name in outputs
        ),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", steps, 2]),
        helper.make_tensor_value_info("length", TensorProto.INT64, ["N"]),
    ]
    shapes = {"Y": ["N", steps, count, 2], "Y_h": ["N", count, 2], "Y_c": ["N", count, 2]}
    ends = [
        helper.make_tensor_value_info(f"{name}_", TensorProto.FLOAT, shapes[name])
        for name in outputs
    ]
    graph = helper.make_graph(nodes, "graph", inputs, ends, initializer)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("op", GATES)
def test_steps_behind_the_end_of_a_sequence_do_nothing(op: str, direction: str):
    model = _model(op, direction)
    net = import_model(model)
    x = np.random.default_rng(0).normal(size=(4, 3, 2)).astype(np.float32)
    feed = {"x": x, "length": np.array([3, 1, 2, 3])}
    session = open_session(model)
    want = session.run(None, feed)
    got = net.activate(feed)
    for entry, values in zip(session.get_outputs(), want, strict=True):
        np.testing.assert_allclose(got[entry.name], values, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("op", "direction"), every(GATES, DIRECTIONS))
def test_a_sequence_of_no_length_ends_in_zeros_whatever_it_begins_with(op: str, direction: str):
    model = _model(op, direction)
    (layer,) = [each for each in model.graph.node if each.op_type == op]
    starts = ["h0", "c0"][: STATES[op]]
    layer.input.extend(starts)
    count = 2 if direction == "bidirectional" else 1
    for name in starts:
        model.graph.initializer.append(
            numpy_helper.from_array(np.full((count, 3, 2), 0.5, np.float32), name)
        )
    for entry in (*model.graph.input, *model.graph.output):
        entry.type.tensor_type.shape.dim[0].dim_value = 3
    net = import_model(model, batch_axis=None)
    x = np.random.default_rng(0).normal(size=(3, 3, 2)).astype(np.float32)
    feed = {"x": x, "length": np.array([0, 3, 1])}
    session = open_session(model)
    given = {name: values[None] for name, values in feed.items()}
    for entry, want in zip(session.get_outputs(), session.run(None, feed), strict=True):
        got = np.reshape(net.activate(given)[entry.name], want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_samples_have_lengths_that_are_there():
    """Runtimes refuse others."""
    net = import_model(model := _model("RNN"))
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, export(net), runtime="onnxruntime").passed
    with pytest.raises(ModelError, match="does not read sequence_lens"):
        verify(net, model)


def test_of_sequences_of_any_length_they_are_refused():
    with pytest.raises(ModelError, match=r"has no axis of time|sequence_lens"):
        import_model(_model("GRU", steps="T"))
