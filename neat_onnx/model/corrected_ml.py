"""Operators of ai.onnx.ml that onnx's reference evaluator computes otherwise than runtimes do.

They stand in for its own, as the operators in `corrected.py` do.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

_BINARY = 2
_PROBABLE = 0.5


def _evaluated(module: str) -> Any:
    return import_module(f"onnx.reference.ops.aionnxml.{module}")


def _normalizer() -> Any:
    """Normalizer of numbers and integers; by the largest of them, where the evaluator takes that of
    absolute values.
    """
    evaluated: Any = _evaluated("op_normalizer").Normalizer

    class Normalizer(evaluated):  # type: ignore[misc]
        def _run(self, x: Any, norm: Any = None) -> tuple[Any, ...]:
            x = x.astype(np.float32)
            if norm != "MAX":
                return super()._run(x, norm)  # type: ignore[no-any-return]
            largest = x.max(axis=1, keepdims=True)
            return (x / np.where(largest == 0, np.float32(1), largest),)

    return Normalizer


def _classifier() -> Any:
    """SVMClassifier with the probabilities that onnxruntime and LIBSVM give.

    The evaluator adds up the products that are elements of Q, where there are more than two labels.
    """
    evaluated: Any = _evaluated("op_svm_classifier")

    class SVMClassifier(evaluated.SVMClassifier):  # type: ignore[misc]
        def _probabilities(self, scores: Any, count: int) -> Any:
            given, first, second = self._svm.atts, *np.triu_indices(count, 1)
            odds = [*zip(scores, given.prob_a, given.prob_b, strict=True)]
            pairs = np.array([evaluated.sigmoid_probability(*each) for each in odds], scores.dtype)
            r = np.zeros((count, count), scores.dtype)
            r[first, second] = np.clip(pairs, 1e-7, 1 - 1e-7)
            r[second, first] = 1 - r[first, second]
            return _coupled(r)

    return SVMClassifier


def _coupled(r: Any) -> Any:
    """Couple the probabilities of pairs of labels (Wu, Lin and Weng, 2004, algorithm 2)."""
    count = len(r)
    q = np.where(np.eye(count), np.sum(r * r, axis=0), -r * r.T).astype(r.dtype)
    p = np.full(count, 1 / count, r.dtype)
    for _ in range(max(100, count)):
        gradient = q @ p
        if np.max(np.abs(gradient - p @ gradient)) < 0.005 / count:
            break
        for label in range(count):
            gradient = q @ p
            p[label] += (p @ gradient - gradient[label]) / q[label, label]
            p /= p.sum()
    return p


def _trees() -> Any:
    """TreeEnsembleClassifier with the labels that onnxruntime chooses.

    Of three classes and more, the label is that of the largest score among the classes that a leaf
    scores which the sample reaches; of two that share a score, it is the second from a half on, or
    from 0 on if a weight is negative. The evaluator takes all classes of one score for two.
    """
    evaluated: Any = _evaluated("op_tree_ensemble_classifier").TreeEnsembleClassifier
    common: Any = _evaluated("_common_classifier")
    transforms = {
        "LOGISTIC": common.logistic,
        "PROBIT": common.probit,
        "SOFTMAX": common.softmax,
        "SOFTMAX_ZERO": common.softmax_zero,
    }

    class TreeEnsembleClassifier(evaluated):  # type: ignore[misc]
        def _run(self, x: Any, **given: Any) -> tuple[Any, ...]:
            words = given["classlabels_strings"]
            labels = np.array(words if words is not None else given["classlabels_int64s"] or [])
            alone = len({*given["class_ids"]}) == 1
            if len(labels) < _BINARY or (len(labels) == _BINARY and not alone):
                return super()._run(x, **given)  # type: ignore[no-any-return]
            sums = partial(_sums_of_weights, super()._run, x, given)
            choose = _of_two if len(labels) == _BINARY else _of_several
            found, scores = choose(sums, given, len(labels))
            transform = transforms.get(given["post_transform"], np.asarray)
            return labels[found], np.asarray(transform(scores), np.float32)

    return TreeEnsembleClassifier


def _sums_of_weights(
    run: Callable[..., Any], x: Any, given: dict[str, Any], weights: Any, count: int, base: Any
) -> Any:
    """The sums of weights by class; one more entry, of 0, has the evaluator take them for several.

    Args:
        run: the evaluator's own function.
        x: the samples.
        given: the attributes.
        weights: one for each entry.
        count: of classes.
        base: a number for each class that sums begin with; None for 0.
    """
    ids, (other, *_) = given["class_ids"], {*range(count)} - {given["class_ids"][0]}
    made: dict[str, Any] = {
        name: [*given[name], given[name][0]] for name in ("class_treeids", "class_nodeids")
    }
    made |= {"class_ids": [*ids, other], "class_weights": [*weights, 0.0], "base_values": base}
    made |= {"classlabels_int64s": [*range(count)], "classlabels_strings": None}
    made |= {"class_weights_as_tensor": None, "post_transform": "NONE"}
    return run(x, **(given | made))[1]


def _weights(given: dict[str, Any]) -> Any:
    weights = given["class_weights"]
    return given["class_weights_as_tensor"] if weights is None else weights


def _of_two(sums: Callable[..., Any], given: dict[str, Any], _: int) -> tuple[Any, Any]:
    """Which of two classes of one score is the label, and the scores of both."""
    weights, (first, *_rest) = _weights(given), given["base_values"] or [0.0]
    score = sums(weights, _BINARY + 1, None)[:, given["class_ids"][0]] + np.float32(first)
    positive = np.min(weights) >= 0
    found = (score > (_PROBABLE if positive else 0)).astype(np.int64)
    plain = positive and given["post_transform"] in (None, "NONE")
    return found, np.stack([1 - score if plain else -score, score], axis=1)


def _of_several(sums: Callable[..., Any], given: dict[str, Any], count: int) -> tuple[Any, Any]:
    """Which class is the label, and the scores of all."""
    weights, base = _weights(given), given["base_values"]
    scores = ranked = sums(weights, count, base)
    if base is None and np.min(weights) <= 0:
        reached = sums(np.ones(len(weights)), count, None) > 0
        ranked = np.where(reached, scores, -np.inf)
    return ranked.argmax(axis=1), scores


def _of_floats(name: str, module: str) -> Callable[[], Any]:
    """An operator whose result is of float32, also of integers: the evaluator has integers then."""

    def make() -> Any:
        evaluated: Any = getattr(_evaluated(module), name)

        def run(self: Any, x: Any, *args: Any, **given: Any) -> Any:
            x = x.astype(np.float32) if x.dtype.kind in "iu" else x
            return evaluated._run(self, x, *args, **given)

        return type(name, (evaluated,), {"_run": run})

    return make


CORRECTED_ML: dict[str, Callable[[], Any]] = {
    "Normalizer": _normalizer,
    "SVMClassifier": _classifier,
    "TreeEnsembleClassifier": _trees,
    **{
        name: _of_floats(name, module)
        for name, module in (
            ("LinearClassifier", "op_linear_classifier"),
            ("LinearRegressor", "op_linear_regressor"),
            ("Scaler", "op_scaler"),
            ("TreeEnsembleRegressor", "op_tree_ensemble_regressor"),
        )
    },
}
