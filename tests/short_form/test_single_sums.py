"""Sums of one tensor in the place of zeros that are added."""

import numpy as np
import pytest
from support.examples.graphs import graph, node

from neat_onnx import import_model
from neat_onnx.model import load_model
from neat_onnx.short_form.single_sums import single_sums
from neat_onnx.verification.runtimes.onnxruntime import load

CASES = {
    "one zero": ([0.0], ["Sum"]),
    "a zero for each": ([[0.0] * 4], ["Sum"]),
    "a zero in axes": ([[0.0]], ["Sum"]),
    "more axes": ([[[0.0]]], ["Add"]),
    "a number": (0.0, ["Add"]),
    "another": ([1.0], ["Add"]),
    "of sign": ([-0.0], ["Add"]),
}


@pytest.mark.parametrize("case", CASES)
def test_zeros_with_axes_are_left_out(case):
    zeros, operators = CASES[case]
    nodes = [node("Tanh", "x", "t"), node("Add", "t z", "s"), node("Exp", "s", "y")]
    model = load_model(graph(nodes, x=("N", 4), z=np.array(zeros, np.float32)))
    found = single_sums(model)
    assert [each.op_type for each in found.graph.node][1:-1] == operators
    assert single_sums(found) is found
    assert (found is model) == (operators == ["Add"])
    feed = {"x": np.array([[-1.0, 0.0, 1.0, 2.0]], np.float32)}
    assert np.array_equal(load(found).run(feed)["y"], load(model).run(feed)["y"])
    if operators == ["Sum"]:
        assert not found.graph.initializer
        assert import_model(found) == import_model(model)


def test_such_a_sum_is_neurons():
    nodes = [node("Tanh", "x", "t"), node("Sum", "t", "s"), node("Mul", "t s", "y")]
    assert len(import_model(graph(nodes, x=("N", 4)))) == 16
