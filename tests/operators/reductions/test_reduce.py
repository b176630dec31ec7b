"""Reductions over any axes, and of no elements, by onnxruntime."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

ROWS = [node("Mul", "x w", "m"), node("Reshape", "m s", "v")]
CONSTANTS = {"w": np.array([1.5, -2.0, 0.5, 1.0, 3.0, -0.25]), "s": np.array([0, 2, 3])}


@pytest.mark.parametrize(
    ("nodes", "aggregation"),
    [
        ([node("ReduceMax", "v a", "y", keepdims=0)], "max"),
        ([node("ReduceMin", "v a", "y", keepdims=0)], "min"),
        ([node("ReduceProd", "v a", "y", keepdims=0)], "product"),
        (
            [
                node("Abs", "v", "b"),
                node("ArgMax", "b", "i", axis=2),
                node("GatherElements", "v i", "p", axis=2),
                node("ReduceMax", "p a", "y", keepdims=0),
            ],
            "maxabs",
        ),
        (
            [
                node("TopK", "v k", "t u", axis=2, largest=0),
                node("ReduceMax", "t a", "y", keepdims=0),
            ],
            "median",
        ),
    ],
)
@pytest.mark.parametrize("axis", [2, -1])
@pytest.mark.parametrize("after", ["", "Flatten", "Squeeze"])
def test_a_reduction_is_an_aggregation(nodes, aggregation, axis, after):
    constants = CONSTANTS | {"a": np.array([axis]), "k": np.array([2])}
    if after:
        *rest, last = nodes
        kept = node(last.op_type, " ".join([*last.input]), "kept", keepdims=1)
        flat = (
            node("Flatten", "kept", "y") if after == "Flatten" else node("Squeeze", "kept a", "y")
        )
        nodes = [*rest, kept, flat]
    net = assert_lifts(graph([*ROWS, *nodes], x=("N", 6), **constants))
    assert net.aggregation_names[6:].tolist() == [aggregation] * 2
    np.testing.assert_array_equal(net.connections.weight, CONSTANTS["w"])


REDUCTIONS = (
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
    "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
)  # fmt: skip


@pytest.mark.parametrize("operator", REDUCTIONS)
@pytest.mark.parametrize("axes", [[1], [-1], [1, 2], [2, 1], []])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_every_reduction_over_any_axes(operator, axes, keepdims):
    nodes = [
        node("Exp", "x", "e"),
        node("Reshape", "e s", "v"),
        node(operator, "v a", "y", keepdims=keepdims, noop_with_empty_axes=1),
    ]
    model = graph(nodes, x=("N", 6), s=CONSTANTS["s"], a=np.array(axes, np.int64))
    if axes or operator in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"):
        assert_lifts(model)


EMPTY = [node("Slice", "x zero zero one", "none")]
OF_NONE = {
    "MatMul": ("none w", {"w": np.zeros((0, 4))}),
    "Gemm": ("none w b", {"w": np.zeros((0, 4)), "b": [1.0, 2.0, 3.0, 4.0]}),
    "ReduceSum": ("none one", {}),
    "ReduceProd": ("none one", {}),
}


@pytest.mark.parametrize("operator", OF_NONE)
def test_sums_and_products_of_no_elements(operator: str):
    reads, given = OF_NONE[operator]
    nodes = [*EMPTY, node(operator, reads, "a"), node("Add", "a x", "y")]
    assert_lifts(graph(nodes, x=("N", 4), zero=[0], one=[1], **given))
