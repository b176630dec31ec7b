"""Operators of scikit-learn's models: features, labels, linear models, trees."""

from typing import Any

import numpy as np
import pytest

from tests.lifting.harness import Case, case, cases_of, check

_R = np.random.default_rng(7)
_X = _R.normal(size=(9, 3)).astype(np.float32)
_WHOLE = _R.integers(0, 4, (5, 3)).astype(np.float32)
_GAPS = np.where(_R.random((9, 3)) < 0.3, np.nan, _X).astype(np.float32)
_LABELS = [3, 5, 9]


def ml(op: str, inputs: list[Any], wanted: list[Any] | None = None, **keywords: Any) -> Case:
    return case(op, inputs, wanted, domain="ai.onnx.ml", **{"opset": 3} | keywords)


def stumps(*scores: Any, op: str = "TreeEnsembleClassifier", x: Any = _X, **more: Any) -> Case:
    """A tree for each pair: the weights of scores on its true leaf, and on its false one."""
    given: dict[str, list[Any]] = {}
    prefix = "class" if op.endswith("Classifier") else "target"
    for tree, sides in enumerate(scores):
        for at, mode in enumerate(("BRANCH_LEQ", "LEAF", "LEAF")):
            row = {"treeids": tree, "nodeids": at, "featureids": tree % 2, "values": 0.1 * tree,
                   "modes": mode, "truenodeids": 1 - at and 1, "falsenodeids": 2 - at and 2,
                   "missing_value_tracks_true": tree % 2}  # fmt: skip
            for key, value in row.items():
                given.setdefault(f"nodes_{key}", []).append(value)
        for at, side in enumerate(sides, 1):
            for score, weight in side.items():
                row = {"treeids": tree, "nodeids": at, "ids": score, "weights": weight}
                for key, value in row.items():
                    given.setdefault(f"{prefix}_{key}", []).append(value)
    count = 2 if prefix == "class" else 1
    labels: dict[str, Any] = (
        {"classlabels_int64s": _LABELS} if prefix == "class" else {"n_targets": 1}
    )
    return ml(op, [x], outputs=count, **{**labels, **given, **more})


def random(seed: int) -> Case:
    """Three trees whose leaves have weights of some classes, most of them negative."""
    rng = np.random.default_rng(seed)
    sides = [
        {
            score: float(np.round(rng.normal() - 0.5, 2))
            for score in rng.choice(3, size=rng.integers(1, 3), replace=False).tolist()
        }
        for _ in range(6)
    ]
    return stumps(*zip(sides[::2], sides[1::2], strict=True), name=f"trees {seed}")


_TWO = {"classlabels_int64s": [5, 7]}
_ONNX = cases_of("ArrayFeatureExtractor", "Binarizer")
_FEATURES = [
    ml("Scaler", [_X], offset=[0.5, 1.0, 0.0], scale=[2.0, 1.0, 3.0]),
    ml("Scaler", [_X], offset=[0.5], scale=[2.0]),
    *(ml("Normalizer", [np.vstack([_X, 0 * _X[:1]])], norm=norm) for norm in ("MAX", "L1", "L2")),
    ml("Binarizer", [_X], threshold=0.3),
    ml("Imputer", [_GAPS], imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=np.nan),
    ml("Imputer", [_WHOLE], imputed_value_floats=[7.0], replaced_value_float=2.0),
    ml(
        "Imputer",
        [np.where(_X > 1, np.inf, _X)],
        imputed_value_floats=[0.5],
        replaced_value_float=np.inf,
    ),
    ml("OneHotEncoder", [_WHOLE], cats_int64s=[0, 2, 3]),
    ml("ArrayFeatureExtractor", [_X, np.array([[2, 0]])], constants=[1]),
    ml("LabelEncoder", [_WHOLE], keys_floats=[0.0, 2.0], values_floats=[5.5, 7.5], opset=2),
    ml("LabelEncoder", [_WHOLE], keys_floats=[0.0, 2.0], values_int64s=[5, 7], default_int64=4),
]
_MODELS = [
    ml("LinearRegressor", [_X], coefficients=[1.0, -2.0, 0.5], intercepts=[0.25]),
    ml("LinearRegressor", [_X], coefficients=_R.random(6).tolist(), targets=2,
       post_transform="SOFTMAX"),
    *(
        ml("LinearClassifier", [_X], outputs=2, coefficients=_R.normal(size=9).tolist(),
           intercepts=[0.1, 0.2, 0.3], post_transform=transform, classlabels_ints=_LABELS)
        for transform in ("NONE", "LOGISTIC", "SOFTMAX")
    ),
    ml("LinearClassifier", [_X], outputs=2, coefficients=_R.normal(size=6).tolist(),
       intercepts=[0.1, -0.2], classlabels_ints=[0, 1], post_transform="LOGISTIC"),
]  # fmt: skip
_TREES = [
    stumps(({0: -1.0}, {0: -2.0}), ({0: 0.5}, {0: 0.25}), name="one class of three"),
    stumps(({0: -1.0}, {0: -2.0}), post_transform="LOGISTIC"),
    stumps(({1: -1.0}, {2: -2.0}), ({1: -0.5}, {1: -0.25}), name="never the first"),
    stumps(({1: 1.0}, {2: 2.0}), ({0: 1.5}, {1: 0.25}), name="all positive"),
    *(
        stumps(({0: low}, {0: 0.2}), ({0: 0.4}, {0: 0.0}), post_transform=transform, **_TWO)
        for low in (-1.0, 0.25)
        for transform in ("NONE", "LOGISTIC")
    ),
    stumps(({0: 0.75, 1: 0.25}, {0: 0.5, 1: -0.5}), name="two scores", **_TWO),
    stumps(({0: -0.75, 1: 0.75}, {0: 0.5, 1: -0.5}), name="opposite", classlabels_int64s=[0, 1]),
    *map(random, range(8)),
    *(
        stumps(({0: 1.0}, {0: -2.0}), ({0: 0.5}, {0: 0.25}), op="TreeEnsembleRegressor",
               aggregate_function=how, base_values=[0.125], x=_GAPS)
        for how in ("SUM", "AVERAGE")
    ),
    stumps(({0: 1.0}, {1: -2.0}), op="TreeEnsembleRegressor", n_targets=2),
]  # fmt: skip
_REFUSED = [
    ml("SVMRegressor", [_X], [_X], coefficients=[1.0] * 3, rho=[0.3]).refused("not supported"),
    *(each.refused("TreeEnsemble") for each in cases_of("TreeEnsemble")),
    stumps(({0: 1.0}, {1: 2.0}), **_TWO).refused("leaves without a score of the second class"),
    stumps(({0: 1.0}, {1: -2.0}), op="TreeEnsembleRegressor", n_targets=2,
           base_values=[1.0, 2.0]).refused("base_values"),
    ml("LabelEncoder", [_WHOLE], [_WHOLE], keys_strings=["a"], values_floats=[1.0]).refused(
        "keys_strings"),
]  # fmt: skip


@pytest.mark.parametrize("each", [*_ONNX, *_FEATURES, *_MODELS, *_TREES, *_REFUSED], ids=str)
def test_ml(each: Case) -> None:
    check(each)
