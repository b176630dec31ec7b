"""Operators that onnx's reference evaluator computes otherwise than ONNX says, put right.

They are of onnx 1.23, and stand in for its own where a model has one of them. Each is a function,
because classes of the evaluator are imported with the first model that needs one.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from neat_onnx.model import Model
from neat_onnx.model.wiring import nodes_within

_NEWEST = 1000  # more than any version of ONNX's operators
_INFERENCE = 14  # the first version whose BatchNormalization says whether it is in training
_DEQUANTIZED = 19  # the first version of DequantizeLinear that the evaluator has


def corrected(model: Model) -> list[Any]:
    """The classes of a model's operators that the evaluator lacks, or computes otherwise."""
    operators = {node.op_type for node in nodes_within(model.graph)}
    return [
        make()
        for name, (before, make) in _CORRECTED.items()
        if name in operators and model.opset < before
    ]


def _evaluated(module: str) -> Any:
    return import_module(f"onnx.reference.ops.{module}")


def _batch_normalization() -> Any:
    """BatchNormalization by the mean and the variance that it is given.

    The evaluator takes old ones that state a momentum, as PyTorch writes them, to be in training.
    """
    evaluated: Any = _evaluated("op_batch_normalization")

    class BatchNormalization(evaluated.BatchNormalization_14):  # type: ignore[misc]
        def _run(self, *given: Any, epsilon: float = 1e-5, **_: Any) -> tuple[Any, ...]:
            return (evaluated._batchnorm_test_mode(*given, epsilon=epsilon),)

    return BatchNormalization


def _conv_transpose() -> Any:
    """ConvTranspose of several groups, each of any number of channels."""
    evaluated: Any = _evaluated("op_conv_transpose")

    class ConvTranspose(evaluated.ConvTranspose):  # type: ignore[misc]
        def _run(
            self, x: Any, w: Any, b: Any = None, group: int | None = None, **given: Any
        ) -> tuple[Any, ...]:
            count = group or 1
            pairs = zip(np.split(x, count, axis=1), np.split(w, count), strict=True)
            parts = [super(ConvTranspose, self)._run(*each, group=1, **given)[0] for each in pairs]
            whole = np.concatenate(parts, axis=1)
            return (whole if b is None else whole + b.reshape(-1, *[1] * (x.ndim - 2)),)

    return ConvTranspose


def _dequantize_linear() -> Any:
    """DequantizeLinear of any version: the evaluator has those from 19 on."""
    evaluated: Any = _evaluated("op_dequantize_linear")

    class DequantizeLinear(evaluated._CommonDequantizeLinear):  # type: ignore[misc]
        pass

    return DequantizeLinear


def _gather_elements() -> Any:
    """GatherElements of fewer indices than there are elements along any axis."""
    evaluated: Any = _evaluated("op_gather_elements")

    class GatherElements(evaluated.GatherElements):  # type: ignore[misc]
        def _run(self, data: Any, indices: Any, axis: int | None = None) -> tuple[Any, ...]:
            along = (axis or 0) % data.ndim
            read = tuple(
                slice(None) if place == along else slice(size)
                for place, size in enumerate(indices.shape)
            )
            return (np.take_along_axis(data[read], indices.astype(np.int64), along),)

    return GatherElements


def _global_max_pool() -> Any:
    """GlobalMaxPool over one axis or three; the evaluator's is over two."""
    evaluated: Any = _evaluated("op_global_max_pool")

    class GlobalMaxPool(evaluated.GlobalMaxPool):  # type: ignore[misc]
        def _run(self, x: Any) -> tuple[Any, ...]:
            return (x.max(axis=tuple(range(2, x.ndim)), keepdims=True),)

    return GlobalMaxPool


def _loop() -> Any:
    """Loop whose outputs of all steps have an axis for these, and which may have no condition.

    The evaluator puts the steps one after the other along the first axis that each of them has.
    """
    evaluated: Any = _evaluated("op_loop")

    class Loop(evaluated.Loop):  # type: ignore[misc]
        def _run(
            self, most: Any, cond: Any, *args: Any, context: Any = None, **given: Any
        ) -> tuple[Any, ...]:
            step_name, cond_name, *names = self.body.input_names
            inputs, states = dict(context or {}), list(args)
            rows: list[Any] = []
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
    evaluated: Any = _evaluated("aionnxml.op_svm_classifier")

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


def _of_floats(name: str, module: str) -> Callable[[], Any]:
    """An operator whose result is of float32, also of integers: the evaluator has integers then."""

    def make() -> Any:
        evaluated: Any = getattr(_evaluated(f"aionnxml.{module}"), name)

        def run(self: Any, x: Any, *args: Any, **given: Any) -> Any:
            x = x.astype(np.float32) if x.dtype.kind in "iu" else x
            return evaluated._run(self, x, *args, **given)

        return type(name, (evaluated,), {"_run": run})

    return make


_CORRECTED: dict[str, tuple[int, Callable[[], Any]]] = {
    "BatchNormalization": (_INFERENCE, _batch_normalization),
    "ConvTranspose": (_NEWEST, _conv_transpose),
    "DequantizeLinear": (_DEQUANTIZED, _dequantize_linear),
    "GatherElements": (_NEWEST, _gather_elements),
    "GlobalMaxPool": (_NEWEST, _global_max_pool),
    "Loop": (_NEWEST, _loop),
    "SVMClassifier": (_NEWEST, _classifier),
    **{
        name: (_NEWEST, _of_floats(name, module))
        for name, module in (
            ("LinearClassifier", "op_linear_classifier"),
            ("LinearRegressor", "op_linear_regressor"),
            ("Scaler", "op_scaler"),
            ("TreeEnsembleRegressor", "op_tree_ensemble_regressor"),
        )
    },
}
"""By operator, the version of ONNX's operators from which on the evaluator's is right."""
