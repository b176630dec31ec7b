"""onnx's own reference evaluator: slow, in numpy, and at hand wherever onnx is."""

import warnings
from importlib import import_module
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from neat_onnx.model import Model
from neat_onnx.verification.runtimes import Feed, Session


def load(model: Model) -> Session:
    """Load a model into `onnx.reference`."""
    coupled = any(node.op_type == "SVMClassifier" for node in model.graph.node)
    corrected = [_corrected_classifier()] if coupled else None
    evaluator = ReferenceEvaluator(model.to_proto(), new_ops=corrected)

    def run(feed: Feed) -> dict[str, Any]:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of a pool that takes means of nothing
            return dict(zip(evaluator.output_names, evaluator.run(None, feed), strict=True))

    return Session(run, f"onnx.reference {onnx.__version__}")


def _corrected_classifier() -> Any:
    """The evaluator's SVMClassifier with the probabilities that onnxruntime and LIBSVM give.

    The evaluator (onnx 1.23) adds up the products that are elements of Q, where there are more than
    two labels.
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
