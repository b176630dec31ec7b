"""Reductions, the functions of rows made of them, and what stands at an edge."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import import_model
from tests.lifting.harness import Case, case, cases_of, check

_X = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
_AXES = np.array([0, -1])
_OURS = [
    case("Softmax", [_X], axis=1),
    case("Softmax", [_X], opset=11, axis=1),  # over all axes from 1 on
    case("LogSoftmax", [_X], opset=11, axis=2),
    case("ReduceSum", [_X], opset=11, axes=[0, 2], keepdims=0),
    case("ReduceMean", [_X, _AXES], constants=[1]),
    case("Shrink", [_X], lambd=-0.5, bias=0.25),  # both of its conditions hold
    *(case("Cast", [300 * _X], to=kind) for kind in (TensorProto.UINT8, TensorProto.INT16)),
]
_WIDE = [
    case("Flatten", [_X], [_X], axis=4),
    case("Softmax", [_X], [_X], axis=3),
    case("Softmax", [_X], [_X], axis=-4),
    case("ReduceSum", [_X, np.array([3])], [_X], constants=[1]),
    case("ReduceMax", [_X, np.array([-4])], [_X], constants=[1]),
    case("Squeeze", [_X, np.array([2**40])], [_X], constants=[1]),
]
_REFUSED = [
    *(each.refused("expected -3 to 2") for each in _WIDE),
    case("TopK", [_X, np.array([2])], [_X, _X], constants=[1], outputs=2, sorted=0).refused(
        "sorted"
    ),
]


@pytest.mark.parametrize(
    "each",
    [
        *cases_of("Softmax", "LogSoftmax", "ReduceSum", "ReduceMean", "ReduceLogSumExp"),
        *_OURS,
        *_REFUSED,
    ],
    ids=str,
)
def test_reductions(each: Case) -> None:
    check(each)


_BETWEEN: list[Any] = [
    [node("Identity", "d", "e")],
    [node("Add", "d c", "e")],
    [node("Unsqueeze", "d one", "u"), node("Reshape", "u rows", "e")],
]


@pytest.mark.parametrize("between", _BETWEEN, ids=["alone", "a sum", "moved"])
def test_a_quotient_is_rounded_as_it_would_be_by_itself(between: list[Any]) -> None:
    """Times a reciprocal, some multiples of 7 would be just below a whole number."""
    numbers = np.array([3.0, 7.0, 49.0, 0.5])
    nodes = [node("Div", "x c", "d"), *between, node("Floor", "e", "y")]
    model = graph(nodes, x=("N", 4), c=numbers, one=np.array([1]), rows=np.array([-1, 4]))
    x = np.float32(np.outer(np.arange(1, 200), numbers))
    (want,) = open_session(model).run(None, {"x": x})
    np.testing.assert_array_equal(import_model(model).activate(x), want)
