"""LpPool is found where roots of sums of powers are, of the same exponent."""

import numpy as np
import pytest
from neat_onnx.operators.spatial.lp_pool_finder import find_lp_pool
from neat_onnx.short_form.groups.search import Search
from support.examples.graphs import graph, node

from neat_onnx.model import load_model

CONSTANTS = {"w": np.ones((1, 1, 2)), "two": 2.0, "four": 4.0, "root": 0.25}
SQUARES, SIZES = node("Mul", "x x", "a"), node("Abs", "x", "a")
FOURTH = node("Pow", "a four", "b")


def found(*powers):
    """The pool that is found for y, a power of sums of pairs of the last tensor."""
    sums = node("Conv", f"{powers[-2].output[0]} w", "s", strides=[2])
    nodes = [*powers[:-1], sums, powers[-1], node("Neg", "y", "z")]
    model = load_model(graph(nodes, x=("N", 1, 4), outputs=["z"], **CONSTANTS))
    search = Search(model, largest=True)
    return find_lp_pool(search, search.made["y"])


@pytest.mark.parametrize(
    ("powers", "p"),
    [
        ([SQUARES, node("Sqrt", "s", "y")], 2),
        ([SIZES, FOURTH, node("Pow", "s root", "y")], 4),
    ],
    ids=["squares", "sizes"],
)
def test_roots_of_sums_of_powers(powers, p):
    _, nodes = found(*powers)
    assert [each.op_type for each in nodes] == ["LpPool"]
    assert nodes[0].given_attributes["p"] == p


def test_roots_of_other_powers_are_none():
    assert found(SQUARES, node("Pow", "a two", "b"), node("Sqrt", "s", "y")) is None
