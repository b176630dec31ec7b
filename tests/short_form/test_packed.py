"""Constants in fewer bytes, against onnxruntime, bit for bit."""

import numpy as np
import pytest
from onnx import helper, numpy_helper
from support.examples.graphs import graph, node, operators
from support.harness.sessions import open_session

from neat_onnx.model import load_model
from neat_onnx.short_form.packed import packed

TRIANGLES = {
    "up to the diagonal": np.tri(40),
    "below it": 2.0 * np.tri(40, k=-3),
    "from the diagonal on": np.triu(np.full((40, 30), -0.5)),
    "above it": np.triu(np.ones((30, 40)), 2),
    "of whole rows": np.tri(30, 40, 35),
    "of truth values": np.tri(40).astype(bool),
    "of no truth values": ~np.tri(40).astype(bool),
    "of integers": 7 * np.tri(40).astype(np.int64),
}


def reading(values, opset=18):
    """A model that gives a constant, beside its input."""
    model = graph([node("Identity", "c", "y"), node("Neg", "x", "z")], outputs="yz", opset=opset)
    values = values.astype(np.float32) if values.dtype == np.float64 else values
    model.graph.initializer.append(numpy_helper.from_array(values, "c"))
    kind = helper.np_dtype_to_tensor_dtype(values.dtype)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", kind, values.shape))
    return values, load_model(model)


@pytest.mark.parametrize("case", TRIANGLES)
def test_a_number_in_a_triangle_is_cut_out(case):
    values, model = reading(TRIANGLES[case])
    short = packed(model)
    assert operators(short)[:2] == ["Expand", "Trilu"]
    assert len(short.to_bytes()) < 300
    got, _ = open_session(short.to_proto()).run(None, {"x": np.ones((1, 3), np.float32)})
    assert got.dtype == values.dtype
    np.testing.assert_array_equal(got, values)


@pytest.mark.parametrize("case", ["two numbers", "another place", "-0.0", "opset 13"])
def test_other_matrices_are_not(case):
    values = np.tri(40)
    values[0, 0] = {"two numbers": 2.0, "another place": 0.0}.get(case, 1.0)
    values[0, -1] = -0.0 if case == "-0.0" else 0.0
    _, model = reading(values, opset=13 if case == "opset 13" else 18)
    assert "Trilu" not in operators(packed(model))


def test_a_negative_zero_among_small_integers_stays_one():
    values, model = reading(np.array([-0.0, *(k * k % 101 for k in range(1, 100))]))
    short = packed(model)
    got, _ = open_session(short.to_proto()).run(None, {"x": np.ones((1, 3), np.float32)})
    np.testing.assert_array_equal(np.signbit(got), np.signbit(values))
    np.testing.assert_array_equal(got, values)
