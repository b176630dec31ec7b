"""Reductions of one element, which optimizers remove: put back, so that import finds them."""

import numpy as np
import pytest
from onnx import TensorProto
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import canonicalize, load_model
from neat_onnx.passes.missing_reductions import missing_reductions

LARGEST = [
    node("Abs", "x", "size"),
    node("ArgMax", "size", "at", axis=1),
    node("GatherElements", "x at", "one", axis=1),
    node("Tanh", "one", "y"),
]
MEDIAN = [
    node("TopK", "x count", "one places", axis=1, largest=0),
    node("TopK", "x two", "both others", axis=1, largest=0),
    node("ReduceMax", "both axes", "top"),
    node("Add", "one top", "sum"),
    node("Div", "sum half", "y"),
]
SMALLEST = [
    node("TopK", "x count", "one places", axis=1, largest=0),
    node("Tanh", "one", "y"),
]


@pytest.mark.parametrize(
    ("nodes", "width", "constants", "count"),
    [
        (LARGEST, 3, {}, 1),
        (MEDIAN, 2, {"count": [1], "two": [2], "axes": [1], "half": 2.0}, 2),
        (SMALLEST, 3, {"count": [1]}, 0),
    ],
    ids=["largest magnitude", "median of two", "smallest"],
)
def test_a_choice_for_an_aggregation_is_reduced(nodes, width, constants, count):
    model = graph(nodes, x=("N", width), **constants)
    simple = canonicalize(model)
    assert [each.op_type for each in simple.graph.node].count("ReduceMax") == count
    assert canonicalize(simple).to_json() == simple.to_json()
    x = np.random.default_rng(0).normal(size=(4, width)).astype(np.float32)
    got, want = (open_session(each).run(None, {"x": x})[0] for each in (simple.to_proto(), model))
    np.testing.assert_array_equal(got, want)
    assert_lifts(model)


@pytest.mark.parametrize("kind", [TensorProto.BOOL, TensorProto.UINT32])
@pytest.mark.parametrize("squeezes", [False, True])
def test_types_that_have_no_maximum_in_runtimes_stay(kind: int, squeezes: bool):
    made = [node("ArgMax", "x", "at", axis=1), node("Cast", "x", "chosen", to=kind)]
    made += [node("GatherElements", "chosen at", "one", axis=1)]
    made += [node("Squeeze", "one axes", "flat")] if squeezes else []
    made += [node("Cast", "flat" if squeezes else "one", "y", to=TensorProto.FLOAT)]
    model = graph(made, x=("N", 3), axes=[1])
    simple = canonicalize(model)
    assert "ReduceMax" not in [each.op_type for each in simple.graph.node]
    open_session(simple.to_proto())
    if kind == TensorProto.BOOL:
        assert_lifts(model)


def test_what_is_reduced_or_no_single_element_stays():
    reduced = [*LARGEST[:3], node("ReduceMax", "one axes", "y")]
    several = [node("TopK", "x count", "two places", axis=1, largest=0), node("Neg", "two", "y")]
    two = {"count": [2], "two": [2], "axes": [1], "half": 2.0}
    models = graph(reduced, axes=[1]), graph(several, count=[2]), graph(MEDIAN, **two)
    for model in models:
        loaded = load_model(model)
        assert missing_reductions(loaded) is loaded
