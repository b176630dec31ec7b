"""Operators that onnx's reference evaluator computes otherwise than ONNX says, put right.

They are of onnx 1.23, and stand in for its own where a model has one of them.
"""

from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

import numpy as np


def corrected(operators: Collection[str]) -> list[Any]:
    """The evaluator's classes for those of these operators that it computes otherwise."""
    return [make() for name, make in _CORRECTED.items() if name in operators]


def _loop() -> Any:
    """Loop whose outputs of all steps have an axis for these, and which may have no condition.

    The evaluator puts the steps one after the other along the first axis that each of them has.
    """
    evaluated: Any = import_module("onnx.reference.ops.op_loop")

    class Loop(evaluated.Loop):  # type: ignore[misc]
        def _run(
            self, most: Any, cond: Any, *args: Any, context: Any = None, **given: Any
        ) -> tuple[Any, ...]:
            step_name, cond_name, *names = self.body.input_names
            inputs, states, rows = dict(context or {}), list(args), []
            attributes = {"attributes": given.get("attributes"), "bindings": given.get("bindings")}
            while (cond is None or np.all(cond)) and (most is None or len(rows) < np.max(most)):
                inputs |= {step_name: np.array(len(rows)), cond_name: np.array(True)}
                inputs |= dict(zip(names, states, strict=True))
                cond, *results = self._run_body(inputs, **attributes)
                states = results[: len(names)]
                rows.append(results[len(names) :])
            each = zip(*rows, strict=True) if rows else [()] * self.K
            stacked = (np.stack(steps) if steps else np.empty(0) for steps in each)
            return self._check_and_fix_outputs((*states, *stacked))  # type: ignore[no-any-return]

    return Loop


def _classifier() -> Any:
    """SVMClassifier with the probabilities that onnxruntime and LIBSVM give.

    The evaluator adds up the products that are elements of Q, where there are more than two labels.
    """
    evaluated: Any = import_module("onnx.reference.ops.aionnxml.op_svm_classifier")

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


_CORRECTED: dict[str, Callable[[], Any]] = {"Loop": _loop, "SVMClassifier": _classifier}
