"""Reductions, and the functions of rows made of them."""

import numpy as np
import pytest

from tests.lifting.harness import Case, case, cases_of, check

_X = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
_AXES = np.array([0, -1])
_OURS = [
    case("Softmax", [_X], axis=1),
    case("Softmax", [_X], opset=11, axis=1),  # over all axes from 1 on
    case("LogSoftmax", [_X], opset=11, axis=2),
    case("ReduceSum", [_X], opset=11, axes=[0, 2], keepdims=0),
    case("ReduceMean", [_X, _AXES], constants=[1]),
]


@pytest.mark.parametrize(
    "each",
    [*cases_of("Softmax", "LogSoftmax", "ReduceSum", "ReduceMean", "ReduceLogSumExp"), *_OURS],
    ids=str,
)
def test_reductions(each: Case) -> None:
    check(each)
