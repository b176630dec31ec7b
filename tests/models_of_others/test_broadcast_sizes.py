"""Operators of two inputs that broadcast to each other come back as these, without places."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import graph_of_inputs
from support.harness.sessions import open_session

from neat_onnx import export, import_model

SHAPES = {
    "alike": [(4, 5), (4, 5)],
    "rows": [(4, 5), (1, 5)],
    "columns": [(4, 5), (4, 1)],
    "both": [(1, 4, 1, 6), (3, 1, 5, 6)],
    "one number": [(4, 5), (1, 1)],
}


def model_of(nodes, outputs, *shapes) -> onnx.ModelProto:
    """A model with the inputs x, y, … of these shapes, beside the batch."""
    inputs = {name: ("N", *shape) for name, shape in zip("xyzw", shapes, strict=False)}
    return graph_of_inputs(nodes, inputs, outputs=outputs)


def assert_small(model: onnx.ModelProto, times: float = 2.0) -> None:
    """Assert that the export computes the same, comes back, and is so much larger at most."""
    net = import_model(model, check=False)
    written = export(net)
    random = np.random.default_rng(0)
    feeds = {
        entry.name: random.integers(
            -2, 3, [4, *(axis.dim_value for axis in entry.type.tensor_type.shape.dim[1:])]
        ).astype(np.float32)
        for entry in model.graph.input
    }
    for want, got in zip(
        *(open_session(each).run(None, feeds) for each in (model, written)), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    assert import_model(written) == net
    assert len(written.to_bytes()) <= times * len(model.SerializeToString())


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("operator", ["Add", "Sub", "Mul", "Max", "Min"])
def test_an_operator_of_two(operator, shapes):
    node = helper.make_node(operator, ["x", "y"], ["out"])
    assert_small(model_of([node], ["out"], *SHAPES[shapes]))


@pytest.mark.parametrize("operator", ["Greater", "LessOrEqual", "Equal"])
def test_a_comparison(operator):
    nodes = [
        helper.make_node(operator, ["x", "y"], ["holds"]),
        helper.make_node("Cast", ["holds"], ["out"], to=TensorProto.FLOAT),
    ]
    assert_small(model_of(nodes, ["out"], (4, 5), (1, 5)))


def test_two_operators_side_by_side():
    nodes = [
        helper.make_node("Add", ["x", "y"], ["sum"]),
        helper.make_node("Add", ["z", "w"], ["other"]),
    ]
    model = model_of(nodes, ["sum", "other"], (2, 3, 4), (1, 3, 4), (1, 3, 4), (2, 3, 4))
    assert_small(model)


def test_what_is_broadcast_is_computed_once():
    nodes = [
        helper.make_node("Tanh", ["y"], ["t"]),
        helper.make_node("Mul", ["x", "t"], ["out"]),
    ]
    model = model_of(nodes, ["out"], (3, 4, 5), (3, 1, 1))
    assert_small(model, 1.5)
    assert [each.op_type for each in export(import_model(model)).graph.node] == ["Tanh", "Mul"]


def test_biases_stand_once_for_each_channel():
    values = helper.make_tensor("b", TensorProto.FLOAT, [3, 1, 1], [1.0, 2.0, 3.0])
    nodes = [
        helper.make_node("Constant", [], ["bias"], value=values),
        helper.make_node("Mul", ["x", "y"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["out"]),
    ]
    assert_small(model_of(nodes, ["out"], (3, 8, 8), (3, 1, 1)), 1.5)
