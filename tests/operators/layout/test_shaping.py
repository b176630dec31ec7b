"""Operators that move elements: no neurons, whatever they do."""

import numpy as np
import pytest
from onnx import helper, numpy_helper
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import ModelError, export, import_model

RNG = np.random.default_rng(0)
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
def test_elements_move_and_nothing_is_computed(nodes, constants):
    outputs = [nodes[-1].output[-1]]
    net = assert_lifts(graph(nodes, x=X, outputs=outputs, **constants))
    assert len(net) == 12
    assert len(net.connections) == 0


def test_an_activation_before_or_after_is_the_same():
    index = np.array([2, 0, 2])
    before = [node("Gather", "x i", "g", axis=1), node("Tanh", "g", "y")]
    after = [node("Tanh", "x", "t"), node("Gather", "t i", "y", axis=1)]
    one, other = (assert_lifts(graph(nodes, i=index)) for nodes in (before, after))
    assert len(one) == len(other) == 3 + 2


def test_constants():
    value = numpy_helper.from_array(np.array([0.5, -2.0, 1.0], np.float32))
    nodes = [node("Constant", "", "c", value=value), node("Add", "x c", "y")]
    net = assert_lifts(graph(nodes))
    assert net.neurons.bias[3:].tolist() == [0.5, -2.0, 1.0]


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


@pytest.mark.parametrize("shape", [[0, 3, 2], [0, 1, 6], [-1, 6, 1]])
def test_a_bias_is_a_bias_behind_another_shape(shape: list[int]):
    nodes = [node("MatMul", "x w", "z"), node("Reshape", "z s", "r"), node("Add", "r b", "y")]
    bias = RNG.normal(size=shape[1:])
    net = assert_lifts(graph(nodes, x=("N", 4), w=RNG.normal(size=(4, 6)), s=shape, b=bias))
    assert len(net) == 4 + 6
    np.testing.assert_allclose(net.neurons.bias[4:], bias.ravel().astype(np.float32))


def test_an_order_of_its_own_keeps_biases_apart():
    nodes = [node("MatMul", "x w", "z"), node("Gather", "z s", "r", axis=1),
             node("Add", "r b", "y")]  # fmt: skip
    order, bias = np.array([2, 0, 1]), RNG.normal(size=3)
    assert_lifts(graph(nodes, x=("N", 4), w=RNG.normal(size=(4, 3)), s=order, b=bias))


def test_channels_that_are_flattened_stay_a_convolution():
    nodes = [node("Conv", "x w", "z"), node("Flatten", "z", "r"), node("Add", "r b", "y")]
    kernel, bias = RNG.normal(size=(2, 1, 3, 3)), RNG.normal(size=18)
    net = assert_lifts(graph(nodes, x=("N", 1, 5, 5), w=kernel, b=bias))
    assert "Conv" in [each.op_type for each in export(net).graph.node]


def test_an_element_that_a_sum_reads_twice_is_one_connection():
    nodes = [node("Gather", "x again", "g", axis=1), node("Gemm", "g w", "y")]
    weights = np.array([[1.0], [2.0], [4.0], [8.0]])
    net = assert_lifts(graph(nodes, again=[0, 1, 0, 0], w=weights))
    assert net.connections.weight.tolist() == [13.0, 2.0]


def test_an_element_that_a_product_reads_twice_is_two_connections():
    nodes = [node("Gather", "x again", "g", axis=1), node("ReduceProd", "g one", "y")]
    net = assert_lifts(graph(nodes, again=[0, 0], one=[1]))
    assert len(net.connections) == 2


@pytest.mark.parametrize("axis", [7, -9, 2**40, -(2**40)])
def test_axes_that_are_none_are_refused_by_name(axis: int):
    with pytest.raises(ModelError, match="make_y"):
        import_model(graph([node("Unsqueeze", "x at", "y")], at=np.array([axis])))
