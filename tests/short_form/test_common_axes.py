"""Nodes that compute in the axes of one tensor, in place of others in between."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node, operators
from support.harness.sessions import open_session

from neat_onnx.model import load_model
from neat_onnx.short_form.common_axes import in_common_axes

X = ("N", 2, 3, 4)
RANDOM = np.random.default_rng(0)
LAST, MIDDLE = np.array([2]), np.array([1])


def with_shapes(model):
    """The model with the shape of its output."""
    return onnx.shape_inference.infer_shapes(model)


def rewritten(nodes, shape=X, opset=18, **constants):
    """The operators of the graph after it, whose result is the same."""
    model = with_shapes(graph(nodes, x=shape, opset=opset, **constants))
    turned = in_common_axes(load_model(model))
    assert in_common_axes(turned) is turned
    x = RANDOM.normal(size=(5, *shape[1:])).astype(np.float32)
    (want,), (got,) = (open_session(each).run(None, {"x": x}) for each in (model, turned))
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
    return operators(turned)


def centred(*before, back="r"):
    """Rows of a tensor without their means, and turned back."""
    return [
        *before,
        node("ReduceMean", "f last", "m", keepdims=1),
        node("Sub", "f m", "c"),
        node("Reshape", f"c {back}", "y"),
    ]


def test_rows_are_reduced_where_they_are():
    nodes = centred(node("Reshape", "x s", "f"))
    numbers = {"s": np.array([0, 2, 12]), "r": np.array([0, 2, 3, 4]), "last": LAST}
    assert rewritten(nodes, **numbers) == ["ReduceMean", "Sub"]


def test_reductions_may_have_their_axes_as_attributes():
    nodes = [
        node("Reshape", "x s", "f"),
        node("ReduceMax", "f", "m", axes=[2]),
        node("Sub", "f m", "c"),
        node("Reshape", "c r", "y"),
    ]
    numbers = {"s": np.array([0, 2, 12]), "r": np.array([0, 2, 3, 4])}
    assert rewritten(nodes, opset=13, **numbers) == ["ReduceMax", "Sub"]


def test_rows_that_were_transposed_are_reduced_where_they_are():
    nodes = [
        node("Transpose", "x", "t", perm=[0, 3, 1, 2]),
        node("Reshape", "t s", "f"),
        node("ReduceMean", "f last", "m", keepdims=0),
        node("Reshape", "m k", "n"),
        node("Sub", "f n", "c"),
        node("Reshape", "c u", "v"),
        node("Transpose", "v", "y", perm=[0, 2, 3, 1]),
    ]
    numbers = {"s": np.array([0, 4, 6]), "k": np.array([0, 4, 1]), "u": np.array([0, 4, 2, 3])}
    assert rewritten(nodes, **numbers, last=LAST) == ["ReduceMean", "Sub"]


def test_axes_may_be_finer_than_those_of_any_tensor():
    nodes = [
        node("MatMul", "x v", "h"),
        node("Reshape", "h s", "f"),
        node("ReduceMean", "f last", "m", keepdims=1),
        node("Sub", "f m", "c"),
        node("Reshape", "c w", "d"),
        node("ReduceMean", "d last", "q", keepdims=1),
        node("Mul", "d q", "e"),
        node("Reshape", "e r", "y"),
    ]
    numbers = {"s": np.array([0, 2, 12]), "w": np.array([0, 4, 6]), "r": np.array([0, 24])}
    found = rewritten(nodes, ("N", 3), **numbers, last=LAST, v=RANDOM.normal(size=(3, 24)))
    assert found == ["MatMul", "Reshape", "ReduceMean", "Sub", "ReduceMean", "Mul", "Flatten"]


@pytest.mark.parametrize("repeat", ["Gather", "Tile"])
def test_what_is_repeated_is_broadcast(repeat):
    columns = np.repeat(np.arange(24), 5)
    nodes = {
        "Gather": [node("Flatten", "x", "f"), node("Gather", "f at", "g", axis=1)],
        "Tile": [
            node("Reshape", "x s", "f"),
            node("Tile", "f n", "t"),
            node("Flatten", "t", "g"),
        ],
    }[repeat]
    nodes += [
        node("Add", "g a", "b"),
        node("Mul", "b b", "q"),
        node("Reshape", "q w", "d"),
        node("ReduceSum", "d last", "y", keepdims=0),
    ]
    numbers = {"at": columns} if repeat == "Gather" else {}
    numbers |= {"s": np.array([0, 24, 1]), "n": np.array([1, 1, 5])} if repeat == "Tile" else {}
    numbers |= {"a": np.tile(RANDOM.normal(size=5), 24), "w": np.array([0, 24, 5])}
    found = rewritten(nodes, **numbers, last=LAST)
    assert found == ["Reshape", "Add", "Mul", "ReduceSum", "Flatten"]


def test_numbers_that_differ_in_the_sign_of_zero_alone_are_several():
    nodes = [
        node("Reshape", "x s", "f"),
        node("Mul", "f a", "t"),
        node("Reshape", "t r", "y"),
    ]
    numbers = {"s": np.array([0, 6, 4]), "r": np.array([0, 2, 3, 4]), "a": np.full((6, 4), 0.0)}
    numbers["a"][:, 1] = -0.0
    model = with_shapes(graph(nodes, x=X, **numbers))
    turned = in_common_axes(load_model(model))
    assert operators(turned) == ["Mul"]
    (factors,) = turned.graph.initializer
    assert np.signbit(factors.values).tolist() == [False, True, False, False]


def test_a_tensor_that_is_read_in_two_orders_is_there_once():
    nodes = [
        node("Transpose", "x", "t", perm=[0, 3, 1, 2]),
        node("Tanh", "t", "h"),
        node("Reshape", "h s", "f"),
        node("ReduceMean", "f last", "m", keepdims=1),
        node("Sub", "f m", "c"),
        node("Reshape", "c u", "v"),
        node("Transpose", "v", "b", perm=[0, 2, 3, 1]),
        node("MatMul", "h w", "p"),
        node("Transpose", "p", "q", perm=[0, 2, 3, 1]),
        node("Add", "b q", "y"),
    ]
    numbers = {"s": np.array([0, 4, 6]), "u": np.array([0, 4, 2, 3])}
    found = rewritten(nodes, **numbers, last=LAST, w=RANDOM.normal(size=(3, 3)))
    assert found.count("Tanh") == 1 and found.count("Reshape") == 0


@pytest.mark.parametrize(
    ("nodes", "numbers"),
    {
        "rows of every second element": (
            [
                node("Flatten", "x", "g"),
                node("Gather", "g at", "h", axis=1),
                node("Reshape", "h s", "f"),
                node("ReduceMean", "f last", "m", keepdims=1),
                node("Sub", "f m", "c"),
                node("Flatten", "c", "y"),
            ],
            {"at": np.array([0, 5, 1, 4, 3, 2, *range(6, 24)]), "s": np.array([0, 2, 12])},
        ),
        "the sum of two orders": (
            [
                node("Transpose", "x", "t", perm=[0, 1, 3, 2]),
                node("Flatten", "t", "f"),
                node("Flatten", "x", "g"),
                node("Add", "f g", "y"),
            ],
            {},
        ),
        "products of two orders": (
            [
                node("Transpose", "x", "t", perm=[0, 1, 3, 2]),
                node("Flatten", "t", "f"),
                node("Flatten", "x", "g"),
                node("Mul", "f g", "p"),
                node("ReduceSum", "p middle", "y", keepdims=1),
            ],
            {"middle": MIDDLE},
        ),
        "functions of repeated elements": (
            [
                node("Reshape", "x s", "f"),
                node("Tile", "f n", "t"),
                node("Tanh", "t", "h"),
                node("Add", "h a", "b"),
                node("ReduceSum", "b last", "y", keepdims=0),
            ],
            {"s": np.array([0, 24, 1]), "n": np.array([1, 1, 5]), "a": RANDOM.normal(size=(24, 5))},
        ),
        "windows": (
            [
                node("Flatten", "x", "g"),
                node("Gather", "g at", "h", axis=1),
                node("Reshape", "h s", "f"),
                node("ReduceMax", "f last", "y", keepdims=0),
            ],
            {"at": np.array([0, 1, 1, 2, 2, 3]), "s": np.array([0, 3, 2])},
        ),
        "no other axes": ([node("Tanh", "x", "t"), node("Flatten", "t", "y")], {}),
    }.values(),
)
def test_what_is_not_shorter_stays(nodes, numbers):
    last = {"last": LAST} if any("last" in each.input for each in nodes) else {}
    assert rewritten(nodes, **numbers, **last) == [each.op_type for each in nodes]


def test_one_number_of_more_axes_has_none():
    """It would give each result as many axes as it has."""
    nodes = [
        node("Reshape", "x w", "f"),
        node("Add", "f one", "a"),
        node("Mul", "a a", "q"),
        node("Flatten", "q", "p"),
        node("Gather", "p at", "y", axis=1),
    ]
    numbers = {"w": np.array([0, 1, 1, 3]), "one": np.full((1, 1, 1), 0.5), "at": np.array([2, 0])}
    found = rewritten(nodes, ("N", 3), **numbers)
    assert found == ["Add", "Mul", "Gather"]
