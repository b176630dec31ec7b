"""Elementwise nodes between a Flatten and a Reshape back."""

import numpy as np
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx.model import load_model
from neat_onnx.short_form.in_axes import in_axes
from neat_onnx.short_form.straight import straight

X = ("N", 2, 3)
BACK = {"s": np.array([0, 2, 3])}
RANDOM = np.random.default_rng(0)


def rewritten(nodes, shape=X, **constants):
    """The operators of the graph after it, whose result is the same."""
    model = graph(nodes, x=shape, **constants)
    turned, _ = straight(in_axes(load_model(model)))
    x = RANDOM.normal(size=(4, *shape[1:])).astype(np.float32)
    (want,), (got,) = (open_session(each).run(None, {"x": x}) for each in (model, turned))
    np.testing.assert_array_equal(want, got)
    return [each.op_type for each in turned.graph.node]


@pytest.mark.parametrize(
    "flat", [node("Flatten", "x", "f"), node("Reshape", "x r", "f")], ids=["Flatten", "Reshape"]
)
def test_they_need_neither(flat):
    nodes = [flat, node("Tanh", "f", "t"), node("Mul", "t t", "m"), node("Reshape", "m s", "y")]
    assert rewritten(nodes, **BACK, r=np.array([0, -1])) == ["Tanh", "Mul"]


def test_constants_get_the_axes():
    nodes = [
        node("Flatten", "x", "f"),
        node("Add", "f a", "t"),
        node("Max", "t b", "m"),
        node("Reshape", "m s", "y"),
    ]
    numbers = {"a": RANDOM.normal(size=6), "b": np.array(0.0)}
    assert rewritten(nodes, **BACK, **numbers) == ["Add", "Max"]


def test_a_tensor_of_other_axes_gets_these():
    nodes = [
        node("Flatten", "x", "f"),
        node("Transpose", "x", "t", perm=[0, 2, 1]),
        node("Flatten", "t", "g"),
        node("Add", "f g", "a"),
        node("Reshape", "a s", "y"),
    ]
    assert rewritten(nodes, **BACK) == ["Transpose", "Reshape", "Add"]


@pytest.mark.parametrize(
    "nodes",
    {
        "a product reads it": [
            node("Flatten", "x", "f"),
            node("Tanh", "f", "t"),
            node("Gemm", "t w", "g"),
            node("Add", "t g", "a"),
            node("Reshape", "a s", "y"),
        ],
        "a product reads the constant": [
            node("Flatten", "x", "f"),
            node("Gemm", "f w c", "g"),
            node("Flatten", "x", "h"),
            node("Add", "h c", "a"),
            node("Reshape", "a s", "b"),
            node("Reshape", "g s", "c2"),
            node("Add", "b c2", "y"),
        ],
        "it is the output": [node("Flatten", "x", "f"), node("Tanh", "f", "y")],
        "each sample has one number": [
            node("Flatten", "x", "f"),
            node("Gemm", "f v", "g"),
            node("Add", "f g", "a"),
            node("Reshape", "a s", "y"),
        ],
    }.values(),
)
def test_others_keep_their_shape(nodes):
    numbers = {"w": RANDOM.normal(size=(6, 6)), "v": np.ones((6, 1)), "c": RANDOM.normal(size=6)}
    model = load_model(graph(nodes, x=X, **BACK, **numbers))
    assert in_axes(model) is model or straight(in_axes(model))[0] == straight(model)[0]
    rewritten(nodes, **BACK, **numbers)


ROWS = [  # the largest of each column beside each row of it
    node("ReduceMax", "x one", "m", keepdims=0),
    node("Flatten", "x", "f"),
    node("Tile", "m twice", "r"),
]
REPEATED = {"one": np.array([1]), "twice": np.array([1, 2])}


def test_a_tensor_that_is_broadcast_is_not_repeated():
    nodes = [*ROWS, node("Sub", "f r", "d"), node("Reshape", "d s", "y")]
    assert rewritten(nodes, **BACK, **REPEATED) == ["ReduceMax", "Reshape", "Sub"]


def test_columns_of_a_larger_tensor_are_none_that_are_broadcast():
    nodes = [
        node("Flatten", "x", "f"),
        node("Tanh", "x", "t"),
        node("Flatten", "t", "h"),
        node("Gather", "h places", "g", axis=1),
        node("Add", "f g", "a"),
        node("Reshape", "a s", "y"),
    ]
    found = rewritten(nodes, **BACK, places=np.array([0, 1, 2, 0, 1, 2]))
    assert found == ["Flatten", "Tanh", "Flatten", "Gather", "Add", "Reshape"]


def test_what_is_repeated_alone_keeps_its_places():
    nodes = [*ROWS, node("Tanh", "r", "t"), node("Reshape", "t s", "y")]
    assert rewritten(nodes, **BACK, **REPEATED) == ["ReduceMax", "Tile", "Tanh", "Reshape"]


def test_one_element_is_broadcast_to_a_flat_tensor():
    nodes = [
        node("Gemm", "x w", "g"),
        node("Gather", "g zeros", "r", axis=1),
        node("Mul", "x r", "m"),
        node("Gemm", "m w", "y"),
    ]
    numbers = {"w": np.ones((3, 1)), "zeros": np.zeros(3, int)}
    assert rewritten(nodes, shape=("N", 3), **numbers) == ["Gemm", "Mul", "Gemm"]


def test_a_constant_of_each_row_stands_once():
    nodes = [node("Flatten", "x", "f"), node("Add", "f b", "a"), node("Reshape", "a s", "y")]
    model = graph(nodes, x=X, **BACK, b=np.repeat([1.0, 2.0], 3))
    turned, _ = straight(in_axes(load_model(model)))
    assert turned.graph.tensors[turned.graph.node[0].input[1]].dims == (2, 1)
