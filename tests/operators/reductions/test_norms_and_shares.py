"""Norms along axes, shares of them, and their products come back without lists of places."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph, node, operators

from neat_onnx import export, import_model, verify

SHAPE = ("N", 6, 5)
FEW = {"Reshape", "Flatten", "Sum", "Identity"}  # shapes and copies in between


def along(axes, operator="ReduceL2", shape=SHAPE, keepdims=1):
    nodes = [node(operator, "x k", "y", keepdims=keepdims)]
    return graph(nodes, x=shape, k=np.array(axes)), [operator]


def shares(axes, operator="ReduceL2", shape=SHAPE):
    nodes = [node(operator, "x k", "n", keepdims=1), node("Div", "x n", "y")]
    parts = {"ReduceL1": ["Abs", "ReduceSum"]}.get(operator, [operator])
    return graph(nodes, x=shape, k=np.array(axes)), [*parts, "Div"]


def of_a_layer():
    nodes = [
        node("Tanh", "x", "h"),
        node("ReduceL2", "h k", "n", keepdims=1),
        node("Clip", "n least", "c"),
        node("Div", "h c", "y"),
    ]
    model = graph(nodes, x=SHAPE, k=np.array([2]), least=np.array(1e-6))
    return model, ["Tanh", "ReduceL2", "Clip", "Div"]


def similarities():
    nodes = [
        node("ReduceL2", "x k", "n", keepdims=1),
        node("Div", "x n", "u"),
        node("Transpose", "u", "v", perm=[0, 2, 1]),
        node("MatMul", "u v", "y"),
    ]
    return graph(nodes, x=SHAPE, k=np.array([2])), ["ReduceL2", "Div", "Transpose", "MatMul"]


CASES = {
    "rows": along([2]),
    "rows without the axis": along([2], keepdims=0),
    "columns": along([1]),
    "pictures": along([2, 3], shape=("N", 3, 4, 5)),
    "channels of all": along([1], shape=("N", 4, 12, 12)),
    "shares of rows": shares([2]),
    "shares of columns": shares([1], shape=("N", 4, 12, 12)),
    "shares of sizes": shares([2], "ReduceL1"),
    "shares of the largest": shares([1], "ReduceMax"),
    "of a layer": of_a_layer(),
    "similarities": similarities(),
}


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("case", CASES)
def test_they_are_as_few_nodes_again(case, opset):
    model, _ = CASES[case]
    net = assert_lifts(model)
    short = export(net, opset=opset)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_sums_of_squares_with_weights_are_no_norm():
    nodes = [node("Mul", "x x", "q"), node("MatMul", "q w", "s"), node("Sqrt", "s", "y")]
    net = assert_lifts(graph(nodes, x=SHAPE, w=np.array([[1.0], [1], [2], [1], [1]])))
    short = export(net)
    assert "ReduceL2" not in operators(short)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_shares_in_another_order_are_a_list():
    """Each row by the norm of another one."""
    nodes = [
        node("ReduceL2", "x k", "n", keepdims=1),
        node("Gather", "n i", "m", axis=1),
        node("Div", "x m", "y"),
    ]
    order = np.array([3, 0, 5, 1, 2, 4])
    net = assert_lifts(graph(nodes, x=SHAPE, k=np.array([2]), i=order))
    short = export(net)
    assert "Gather" in operators(short)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_a_number_for_each_sample_is_no_list_of_pairs():
    """It has no axes but the batch, where elements that are followed have some."""
    nodes = [node("Unsqueeze", "z k", "u"), node("Sub", "x u", "y")]
    model = graph(nodes, x=("N", 8), k=np.array([1]))
    z = onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, ["N"])
    model.graph.input.append(z)
    net = import_model(model, check=False)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed
