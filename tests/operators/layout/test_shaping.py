"""Operators that move elements: by places that are known."""

import numpy as np
import pytest
from onnx import helper
from support.examples.graphs import assert_lifts, graph, node, nodes_of

from neat_onnx import ModelError, import_model

X = ("N", 2, 6)
AXIS1, AXIS2 = np.array([1]), np.array([2])
GATHERED = np.array([[3, -1], [0, 3]])


@pytest.mark.parametrize(
    ("nodes", "constants"),
    [
        ("y = Reshape(x, s)", {"s": np.array([0, 3, -1])}),
        ("y = Reshape(x, s)", {"s": np.array([-1, 12])}),
        ("y = Flatten(x)", {}),
        ("y = Transpose<perm=[0, 2, 1]>(x)", {}),
        ("y = Identity(x)", {}),
        ("y = Unsqueeze(x, a)", {"a": AXIS1}),
        ("u = Unsqueeze(x, a) y = Squeeze(u, a)", {"a": AXIS2}),
        ("y = Gather<axis=2>(x, i)", {"i": GATHERED}),
        ("y = Gather<axis=1>(x, i)", {"i": np.array(1)}),
        ("y = Concat<axis=1>(x, x)", {}),
        ("y = Concat<axis=-1>(x, x)", {}),
        ("a, y = Split<axis=2>(x, s)", {"s": np.array([2, 4])}),
        ("a, y = Split<axis=-1, num_outputs=2>(x)", {}),
        ("a, b, y = Split<axis=2>(x, s) w = Concat<axis=2>(y, a, b)", {"s": np.array([1, 2, 3])}),
        ("y = Slice(x, b, e, a)", {"b": AXIS1, "e": np.array([5]), "a": AXIS2}),
        (
            "y = Slice(x, b, e, a, s)",
            {"b": np.array([-1]), "e": np.array([-(2**40)]), "a": AXIS2, "s": np.array([-2])},
        ),
        (
            "y = Slice(x, b, e, a, s)",
            {
                "b": np.array([0, 1]),
                "e": np.array([2**40, 6]),
                "a": np.array([1, 2]),
                "s": np.array([1, 2]),
            },
        ),
        (
            "y = Slice(x, b, e, a, s)",
            {
                "b": np.array([0, 1]),
                "e": np.array([10**9, 10**9]),
                "a": np.array([0, 2]),
                "s": np.array([1, 2]),
            },
        ),
    ],
)
def test_elements_move(nodes, constants):
    outputs = [nodes_of(nodes)[-1].output[-1]]
    assert_lifts(graph(nodes, x=X, outputs=outputs, **constants))


def test_weights_that_are_made_from_constants():
    nodes = "m = Reshape(w, s) t = Transpose<perm=[1, 0]>(m) y = MatMul(x, t)"
    assert_lifts(graph(nodes, w=np.arange(6.0), s=np.array([2, 3])))


def test_a_shape_that_is_computed_is_refused():
    nodes = [helper.make_node("Cast", ["x"], ["s"], "cast", to=7), node("Reshape", "x s", "y")]
    with pytest.raises(ModelError):
        import_model(graph(nodes))


@pytest.mark.parametrize("axis", [7, -9, 2**40, -(2**40)])
def test_axes_that_are_none_are_refused_by_name(axis: int):
    with pytest.raises(ModelError, match="make_y"):
        import_model(graph("y = Unsqueeze(x, at)", at=np.array([axis])))
