"""Elements by their order and by their places."""

import numpy as np
import pytest

from tests.lifting.harness import Case, case, cases_of, check

_R = np.random.default_rng(0)
_X = _R.normal(size=(3, 4, 2)).astype(np.float32)
_TIES = np.array([[1, 3, 3, 0], [2, 2, 2, 2]], np.float32)
_PLACES = np.array([[0, 2], [-1, 1]])
_ONNX = cases_of(
    "ArgMax", "ArgMin", "TopK", "Hardmax", "CumSum", "CumProd", "Gather", "GatherElements",
    "GatherND", "ScatterElements", "ScatterND", "Scatter", "Compress", "Tile", "ReverseSequence",
    "Trilu", "DepthToSpace", "SpaceToDepth", "EyeLike", "IsNaN", "IsInf", "NonZero",
)  # fmt: skip
_DEPTH = "depth is computed from inputs, expected numbers that are known"
_REFUSED = [
    *(each.refused("operator Unique is not") for each in cases_of("Unique")),
    *(each.refused(_DEPTH) for each in cases_of("OneHot")),  # its depth is a floating input
]
_OURS = [
    case("OneHot", [np.array([0, -1, 7]), 3, np.float32([2, 5])], constants=[1, 2], axis=0),
    case("OneHot", [np.float32([0, -1]), 2, np.float32([0, 1])], [np.eye(2)], constants=[1, 2]),
    case("Gather", [_TIES, np.array([4])], [_TIES], constants=[1], axis=1).refused("indices is 4"),
    case("TopK", [_TIES, np.array([3])], constants=[1], outputs=2),
    case("TopK", [_TIES, np.array([1])], constants=[1], outputs=2, largest=0),
    case("TopK", [_X, np.array([2])], constants=[1], outputs=2, axis=0),
    case("ArgMax", [_TIES], axis=1),
    case("ArgMin", [_TIES], axis=-1, keepdims=0),
    case("ArgMax", [_X], opset=12, axis=1, select_last_index=1),
    case("Hardmax", [_TIES], axis=1),
    case("Hardmax", [_X], opset=11, axis=1),
    case("CumSum", [_X, np.array(1)], constants=[1], reverse=1, exclusive=1),
    case("Gather", [_X, _PLACES], constants=[1], axis=1),
    case("ScatterElements", [_TIES, _PLACES, _TIES[:, :2]], constants=[1], axis=1),
    case(
        "ScatterND", [_TIES, np.array([[1], [1]]), _TIES], constants=[1], opset=18, reduction="add"
    ),
]


@pytest.mark.parametrize("each", [*_ONNX, *_REFUSED, *_OURS], ids=str)
def test_ordering(each: Case) -> None:
    check(each)
