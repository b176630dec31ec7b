"""Rows less the logarithm of the sum of their exponentials: LogSoftmax and Softmax."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node, operators
from support.harness.sessions import open_session

from neat_onnx import canonicalize, export, import_model, verify

TOTAL = node("ReduceLogSumExp", "x axes", "t", keepdims=1)
LESS = node("Sub", "x t", "y")


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        ([TOTAL, LESS], ["LogSoftmax"]),
        ([TOTAL, node("Sub", "x t", "s"), node("Exp", "s", "y")], ["Softmax"]),
        (
            [
                node("ReduceLogSumExp", "x axes", "r", keepdims=0),
                node("Reshape", "r shape", "t"),
                node("Sub", "x t", "s"),
                node("Exp", "s", "e"),
                node("Add", "e s", "y"),
            ],
            ["LogSoftmax", "Softmax", "Add"],
        ),
    ],
    ids=["logarithms", "shares", "both"],
)
def test_they_are_one_operator(nodes, wanted):
    constants = {"axes": [1], **({"shape": [-1, 1]} if len(nodes) > 3 else {})}
    model = graph(nodes, x=("N", 5), **constants)
    simple = canonicalize(model)
    assert operators(simple) == wanted
    assert canonicalize(simple).to_json() == simple.to_json()
    x = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    got, want = (open_session(each).run(None, {"x": x})[0] for each in (simple.to_proto(), model))
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
    net = assert_lifts(model)
    assert verify(net, export(net), runtime="onnxruntime").passed


@pytest.mark.parametrize("axis", [1, -2, 3, -1])
def test_they_are_along_any_axis(axis):
    model = graph([TOTAL, LESS], x=("N", 3, 4, 2), axes=[axis])
    simple = canonicalize(model)
    assert operators(simple) == ["LogSoftmax"]
    net = assert_lifts(model)
    written = export(net)
    assert verify(net, written, runtime="onnxruntime").passed


@pytest.mark.parametrize(
    ("nodes", "axes"),
    [
        ([TOTAL, LESS], [0]),
        ([TOTAL, node("Sub", "t x", "y")], [1]),
        ([node("Neg", "x", "n"), node("ReduceLogSumExp", "n axes", "t"), LESS], [1]),
        ([node("ReduceSum", "x axes", "t"), LESS], [1]),
    ],
    ids=["of columns", "the other way", "of other rows", "of a plain sum"],
)
def test_other_differences_stay(nodes, axes):
    simple = canonicalize(graph(nodes, x=("N", 5), axes=axes))
    assert not {"LogSoftmax", "Softmax"} & {*operators(simple)}


@pytest.mark.parametrize(
    "mask",
    [
        [node("Greater", "x zero", "c"), node("Where", "c x low", "l")],
        [node("Sign", "x", "s"), node("Mul", "s half", "h"), node("Add", "h half", "g"),
         node("Sub", "one g", "f"), node("Mul", "f low", "m"), node("Add", "x m", "l")],
    ],
    ids=["chosen", "added"],
)  # fmt: skip
def test_a_masked_policy_gives_what_float32_leaves_of_it(mask):
    """Where all actions are masked, the logarithm of their sum is nothing beside -1e8."""
    nodes = [*mask, node("ReduceLogSumExp", "l axes", "t"), node("Sub", "l t", "y")]
    constants = {"zero": 0.0, "one": 1.0, "half": 0.5, "low": -1e8}
    model = graph(nodes, x=("N", 5), axes=[1], **constants)
    assert "LogSoftmax" not in operators(canonicalize(model))
    net = import_model(model)  # the check runs rows of which all is masked
    x = np.abs(np.random.default_rng(0).normal(size=(4, 5))).astype(np.float32)
    x[1], x[2, 1:] = -x[1], -x[2, 1:]
    (want,) = open_session(model).run(None, {"x": x})
    (got,) = open_session(export(net)).run(None, {"x": x})
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
