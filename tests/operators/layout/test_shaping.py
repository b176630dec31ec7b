"""Operators that move elements: by places that are known."""

import numpy as np
import pytest
from onnx import helper
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import ModelError, import_model

X = ("N", 2, 6)
AXIS1, AXIS2 = np.array([1]), np.array([2])
GATHERED = np.array([[3, -1], [0, 3]])


@pytest.mark.parametrize(
    ("nodes", "constants"),
    [
        ([node("Reshape", "x s", "y")], {"s": np.array([0, 3, -1])}),
        ([node("Reshape", "x s", "y")], {"s": np.array([-1, 12])}),
        ([node("Flatten", "x", "y")], {}),
        ([node("Transpose", "x", "y", perm=[0, 2, 1])], {}),
        ([node("Identity", "x", "y")], {}),
        ([node("Unsqueeze", "x a", "y")], {"a": AXIS1}),
        ([node("Unsqueeze", "x a", "u"), node("Squeeze", "u a", "y")], {"a": AXIS2}),
        ([node("Gather", "x i", "y", axis=2)], {"i": GATHERED}),
        ([node("Gather", "x i", "y", axis=1)], {"i": np.array(1)}),
        ([node("Concat", "x x", "y", axis=1)], {}),
        ([node("Concat", "x x", "y", axis=-1)], {}),
        ([node("Split", "x s", "a y", axis=2)], {"s": np.array([2, 4])}),
        ([node("Split", "x", "a y", axis=-1, num_outputs=2)], {}),
        ([node("Split", "x s", "a b y", axis=2), node("Concat", "y a b", "w", axis=2)],
         {"s": np.array([1, 2, 3])}),
        ([node("Slice", "x b e a", "y")], {"b": AXIS1, "e": np.array([5]), "a": AXIS2}),
        ([node("Slice", "x b e a s", "y")],
         {"b": np.array([-1]), "e": np.array([-(2**40)]), "a": AXIS2, "s": np.array([-2])}),
        ([node("Slice", "x b e a s", "y")],
         {"b": np.array([0, 1]), "e": np.array([2**40, 6]), "a": np.array([1, 2]),
          "s": np.array([1, 2])}),
        ([node("Slice", "x b e a s", "y")],
         {"b": np.array([0, 1]), "e": np.array([10**9, 10**9]), "a": np.array([0, 2]),
          "s": np.array([1, 2])}),
    ],
)  # fmt: skip
def test_elements_move(nodes, constants):
    outputs = [nodes[-1].output[-1]]
    assert_lifts(graph(nodes, x=X, outputs=outputs, **constants))


def test_weights_that_are_made_from_constants():
    nodes = [
        node("Reshape", "w s", "m"),
        node("Transpose", "m", "t", perm=[1, 0]),
        node("MatMul", "x t", "y"),
    ]
    assert_lifts(graph(nodes, w=np.arange(6.0), s=np.array([2, 3])))


def test_a_shape_that_is_computed_is_refused():
    nodes = [helper.make_node("Cast", ["x"], ["s"], "cast", to=7), node("Reshape", "x s", "y")]
    with pytest.raises(ModelError):
        import_model(graph(nodes))


@pytest.mark.parametrize("axis", [7, -9, 2**40, -(2**40)])
def test_axes_that_are_none_are_refused_by_name(axis: int):
    with pytest.raises(ModelError, match="make_y"):
        import_model(graph([node("Unsqueeze", "x at", "y")], at=np.array([axis])))
