"""Sums of one tensor alone, all of which or some of which stay."""

import numpy as np
import pytest
from support.examples.graphs import graph, node

from neat_onnx.model import load_model
from neat_onnx.short_form.straight import single_input_sums, straight

NODES = [
    node("Tanh", "x", "t"),
    node("Gemm", "t one", "u"),
    node("Exp", "u", "e"),
    node("Add", "e none", "v"),
    node("Abs", "v", "y"),
]


def model():
    return load_model(graph(NODES, x=("N", 1), one=np.ones((1, 1)), none=np.zeros(1)))


def test_they_are_found():
    assert single_input_sums(model()) == ["u", "v"]


@pytest.mark.parametrize(
    ("stay", "others"),
    [
        (True, ["Gemm", "Add"]),
        (False, []),
        ({"u"}, ["Gemm"]),
        ({"v"}, ["Add"]),
        ({"u", "v"}, ["Gemm", "Add"]),
    ],
)
def test_they_stay_where_that_is_wanted(stay, others):
    form, _ = straight(model(), sums=stay)
    assert [each.op_type for each in form.graph.node if each.op_type in ("Gemm", "Add")] == others


def test_sums_of_one_tensor_stay_though_they_are_alike():
    nodes = [node("Tanh", "x", "t"), node("Sum", "t", "u"), node("Sum", "t", "v")]
    nodes += [node("Exp", "u", "e"), node("Abs", "v", "a"), node("Mul", "e a", "y")]
    form, _ = straight(load_model(graph(nodes, x=("N", 3))))
    assert [each.op_type for each in form.graph.node].count("Sum") == 2
