"""Nodes that give a tensor another shape, one after the other, are one, or none."""

import numpy as np
import pytest
from support.examples.graphs import graph, node, operators
from support.harness.sessions import open_session

from neat_onnx import load_model
from neat_onnx.operators.export.frames.merged_shapes import merged_shapes

CASES = {
    "two shapes": (
        [node("Unsqueeze", "x first", "a"), node("Flatten", "a", "b"), node("Tanh", "b", "y")],
        ["Reshape", "Tanh"],
    ),
    "there and back": (
        [
            node("Unsqueeze", "x first", "a"),
            node("Squeeze", "a first", "b"),
            node("Tanh", "b", "y"),
        ],
        ["Tanh"],
    ),
    "the shape that there was": (
        [node("Tanh", "x", "t"), node("Reshape", "t same", "y")],
        ["Tanh"],
    ),
    "an input that is an output": ([node("Reshape", "x same", "y")], ["Identity"]),
    "one alone": ([node("Flatten", "x", "a"), node("Tanh", "a", "y")], ["Flatten", "Tanh"]),
    "read by others as well": (
        [
            node("Unsqueeze", "x first", "a"),
            node("Tanh", "a", "t"),
            node("Squeeze", "a first", "b"),
            node("Mul", "b t", "y"),
        ],
        ["Unsqueeze", "Tanh", "Mul"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_before_and_after(case):
    nodes, want = CASES[case]
    before = load_model(graph(nodes, x=(2, 3, 4), first=[0], same=[2, 3, 4]).SerializeToString())
    after, names = merged_shapes(before)
    assert operators(after) == want
    x = {"x": np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)}
    (one,), (other,) = (open_session(each).run(None, x) for each in (before, after))
    np.testing.assert_array_equal(one, other)
    assert not {each.name for each in after.graph.outputs} & {*names}


def test_a_tensor_between_two_shapes_is_called_as_the_last():
    steps = [("Tanh", "x"), ("Flatten", "t"), ("Unsqueeze", "b first"), ("Flatten", "c")]
    shapes = [node(op, read, made) for (op, read), made in zip(steps, "tbcd", strict=True)]
    nodes = [*shapes, node("Tanh", "d", "y")]
    model = load_model(graph(nodes, x=(2, 3, 4), first=[0]).SerializeToString())
    after, names = merged_shapes(model)
    assert operators(after) == ["Tanh", "Reshape", "Tanh"]
    assert names == {"b": "d", "c": "d"}


def test_sizes_that_are_not_known_stay():
    nodes = [node("Flatten", "x", "a"), node("Tanh", "a", "y")]
    model = load_model(graph(nodes, x=("N", 3, 4)).SerializeToString())
    assert merged_shapes(model)[0].graph == model.graph
