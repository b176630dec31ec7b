"""Reductions over any axes, and of no elements, by onnxruntime."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

ROWS = "m = Mul(x, w) v = Reshape(m, s)"
CONSTANTS = {"w": np.array([1.5, -2.0, 0.5, 1.0, 3.0, -0.25]), "s": np.array([0, 2, 3])}


@pytest.mark.parametrize(
    ("nodes", "aggregation"),
    [
        ("y = ReduceMax<keepdims=0>(v, a)", "max"),
        ("y = ReduceMin<keepdims=0>(v, a)", "min"),
        ("y = ReduceProd<keepdims=0>(v, a)", "product"),
        (
            (
                "b = Abs(v) i = ArgMax<axis=2>(b) p = GatherElements<axis=2>(v, i) "
                "y = ReduceMax<keepdims=0>(p, a)"
            ),
            "maxabs",
        ),
        ("t, u = TopK<axis=2, largest=0>(v, k) y = ReduceMax<keepdims=0>(t, a)", "median"),
    ],
)
@pytest.mark.parametrize("axis", [2, -1])
@pytest.mark.parametrize("after", ["", "Flatten", "Squeeze"])
def test_a_reduction_is_an_aggregation(nodes, aggregation, axis, after):
    constants = CONSTANTS | {"a": np.array([axis]), "k": np.array([2])}
    if after:
        kept = nodes.replace("y = ", "kept = ").replace("keepdims=0", "keepdims=1")
        nodes = f"{kept} y = {after}(kept{', a' if after == 'Squeeze' else ''})"
    net = assert_lifts(graph([ROWS, nodes], x=("N", 6), **constants))
    assert net.aggregation_names[6:].tolist() == [aggregation] * 2
    np.testing.assert_array_equal(net.connections.weight, CONSTANTS["w"])


EMPTY = "none = Slice(x, zero, zero, one)"
OF_NONE = {
    "MatMul": ("none w", {"w": np.zeros((0, 4))}),
    "Gemm": ("none w b", {"w": np.zeros((0, 4)), "b": [1.0, 2.0, 3.0, 4.0]}),
    "ReduceSum": ("none one", {}),
    "ReduceProd": ("none one", {}),
}


@pytest.mark.parametrize("operator", OF_NONE)
def test_sums_and_products_of_no_elements(operator: str):
    reads, given = OF_NONE[operator]
    nodes = [EMPTY, node(operator, reads, "a"), node("Add", "a x", "y")]
    assert_lifts(graph(nodes, x=("N", 4), zero=[0], one=[1], **given))
