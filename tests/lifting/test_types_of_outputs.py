"""Operators that read integers alone: what they give is of the type that ONNX's schema says."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import import_model

ML = "ai.onnx.ml"
TREE = {
    "n_targets": 2,
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_values": [1.5, 0.0, 0.0],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "target_treeids": [0] * 4,
    "target_nodeids": [1, 1, 2, 2],
    "target_ids": [0, 1, 0, 1],
    "target_weights": [0.25, 0.75, 0.75, 0.5],
}
X = np.int64([[1, 2, 3], [4, 0, 5], [7, 7, 1]])


def model(nodes: list[onnx.NodeProto], *, kind: int, **constants: Any) -> onnx.ModelProto:
    """From x [N, 3], of integers, to y of this kind."""
    tensors = [numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items()]
    given = [helper.make_tensor_value_info("x", TensorProto.INT64, ["N", 3])]
    wanted = [helper.make_tensor_value_info("y", kind, None)]
    graph = helper.make_graph(nodes, "graph", given, wanted, tensors)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(ML, 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize(
    ("operator", "attributes", "numbers"),
    [
        ("Scaler", {"offset": [0.0], "scale": [0.5]}, X / 2),
        ("Normalizer", {"norm": "L1"}, X / np.abs(X).sum(1, keepdims=True)),
        (
            "LinearRegressor",
            {"coefficients": [0.5, 0.25, 1.5], "intercepts": [0.25]},
            X @ [[0.5], [0.25], [1.5]] + 0.25,
        ),
        ("TreeEnsembleRegressor", TREE, np.where(X[:, :1] <= 1.5, [0.25, 0.75], [0.75, 0.5])),
        ("FeatureVectorizer", {"inputdimensions": [3]}, X),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_numbers_of_integers_are_divided_as_numbers(operator, attributes, numbers):
    nodes = [
        node(operator, "x", "s", domain=ML, **attributes),
        node("Div", "s k", "y"),
    ]
    net = import_model(model(nodes, kind=TensorProto.FLOAT, k=np.float32(4)))
    np.testing.assert_allclose(net.activate(X), numbers / 4, rtol=1e-6)
    nodes[1:] = [node("ReduceMax", "s", "t", axes=[1], keepdims=1), node("Div", "s t", "y")]
    net = import_model(model(nodes, kind=TensorProto.FLOAT))
    np.testing.assert_allclose(net.activate(X), numbers / numbers.max(1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Pow", "x half", "y")],
        [node("TopK", "x two", "t _"), node("Div", "t two", "y")],
        [node("Greater", "x two", "g"), node("Where", "g x two", "w"), node("Div", "w two", "y")],
        [node("Concat", "x x", "c", axis=1), node("Div", "c two", "y")],
        [node("ArgMax", "x", "a", axis=1), node("Div", "a two", "y")],
    ],
    ids=["Pow", "TopK", "Where", "Concat", "ArgMax"],
)
def test_results_of_integers_stay_integers(nodes):
    constants = {"half": np.float32(0.5), "two": np.int64([2])}
    read = {name for each in nodes for name in each.input}
    used = {name: each for name, each in constants.items() if name in read}
    made = model(nodes, kind=TensorProto.INT64, **used)
    (want,) = open_session(made).run(None, {"x": X})
    net = import_model(made)
    np.testing.assert_array_equal(net.activate(X).reshape(want.shape), want)
