"""Normalizations, products of matrices, and functions with parameters."""

import numpy as np
import pytest

from tests.lifting.harness import Case, case, cases_of, check

_R = np.random.default_rng(0)
_X = _R.normal(size=(2, 3, 4, 4)).astype(np.float32)
_M = _R.normal(size=(2, 3, 4)).astype(np.float32)
_C = (np.abs(_R.normal(size=(4, 3))) + 0.5).astype(np.float32)
_PAIRS = _X**2 + np.pad(_X[:, 1:], [(0, 0), (0, 1), (0, 0), (0, 0)]) ** 2
_TRAINS = "training_mode"
_ONNX = [
    each.refused(_TRAINS) if "train" in str(each) and "zero_ratio" not in str(each) else each
    for each in (
        *(each.holding("r", "t") for each in cases_of("Dropout") if "old" not in str(each)),
        *cases_of(
        "BatchNormalization", "InstanceNormalization", "LpNormalization", "LRN",
        "LayerNormalization", "GroupNormalization", "RMSNormalization", "MeanVarianceNormalization",
        "MatMul", "Gemm", "Einsum", "PRelu", "Shrink",
    ))
]  # fmt: skip
_OURS = [
    case("BatchNormalization", [_X, *_C], constants=[1, 2, 3, 4], epsilon=0.1),
    case("BatchNormalization", [_X, *_C]),  # its numbers are inputs
    case("LRN", [_X], size=5, alpha=0.5),
    case("LRN", [_X], size=3, beta=0.5, bias=2.0),
    case("LRN", [_X], [_X / (1 + _PAIRS / 2) ** 0.75], size=2, alpha=1.0),
    case("PRelu", [_X, _C[0].reshape(3, 1, 1)], constants=[1]),
    case("PRelu", [_M[:, :, :3], _C[0]], constants=[1]),
    case("Shrink", [np.float32([-0.5, 0.5, 1.0])], lambd=0.5, bias=0.25),
    case("Einsum", [_M, _M], equation="bij,bkj->bik"),
    case("Einsum", [_M, _M, _M[0]], equation="bij,bij,ij->b"),
    case("Einsum", [_M, _M[0].T], equation="...ij,jk"),
    case("Einsum", [_M, _C[:, 0]], constants=[1], equation="bij,j->ib"),
]


@pytest.mark.parametrize("each", [*_ONNX, *_OURS], ids=str)
def test_normalizations(each: Case) -> None:
    check(each)
