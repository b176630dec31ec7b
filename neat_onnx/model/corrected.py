"""Operators that onnx's reference evaluator computes otherwise than ONNX says, put right.

They are of onnx 1.23, and stand in for its own where a model has one of them; rarer ones are
refused. Each is a function, because classes of the evaluator are imported with the first model that
needs one.
"""

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.model import Model
from neat_onnx.model.wiring import nodes_within

_NEWEST = 1000  # more than any version of ONNX's operators
_INFERENCE = 14  # the first version whose BatchNormalization says whether it is in training
_DEQUANTIZED = 19  # the first version of DequantizeLinear that the evaluator has


def corrected(model: Model) -> list[Any]:
    """The classes of a model's operators that the evaluator lacks, or computes otherwise.

    Raises:
        ModelError: it computes one otherwise, and nothing stands in; says which.
    """
    nodes = list(nodes_within(model.graph))
    for node in nodes:
        is_wrong = _WRONG.get(node.op_type)
        if is_wrong is not None and is_wrong(node.given_attributes):
            raise ModelError(
                f"node {node.label}: onnx's evaluator computes another result than ONNX says",
                where=node.name or None,
                hint="Have onnxruntime, which computes this one: pip install onnxruntime",
            )
    operators = {(node.op_type, node.domain == _ML) for node in nodes}
    found = [
        make()
        for name, (before, make) in _CORRECTED.items()
        if (name, False) in operators and model.opset < before
    ]
    return found + [make(name) for name, make in _ML_CORRECTED.items() if (name, True) in operators]


def _evaluated(module: str, room: str = "") -> Any:
    return import_module(f"onnx.reference.ops.{room}{module}")


def _batch_normalization() -> Any:
    """BatchNormalization by the mean and the variance that it is given.

    The evaluator takes old ones that state a momentum, as PyTorch writes them, to be in training.
    """
    evaluated: Any = _evaluated("op_batch_normalization")

    class BatchNormalization(evaluated.BatchNormalization_14):  # type: ignore[misc]
        def _run(self, x: Any, *given: Any, epsilon: float = 1e-5, **_: Any) -> tuple[Any, ...]:
            return (evaluated._batchnorm_test_mode(x, *given, epsilon=epsilon),)

    return BatchNormalization


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
            kinds = self.body.output_types[len(names) + 1 :]
            stacked = [*map(np.stack, zip(*rows, strict=True))] if rows else map(_none_of, kinds)
            return self._check_and_fix_outputs((*states, *stacked))  # type: ignore[no-any-return]

    return Loop


def _none_of(kind: Any) -> Any:
    """No tensors of a type, one after the other; of an axis that is open there are no elements."""
    from onnx import helper  # noqa: PLC0415 - slow to import

    tensor = kind.tensor_type
    sizes = [size.dim_value for size in tensor.shape.dim]
    return np.empty((0, *sizes), helper.tensor_dtype_to_np_dtype(tensor.elem_type))


def _lrn() -> Any:
    """LRN of every channel; the evaluator computes as many channels as there are samples."""
    evaluated: Any = _evaluated("op_lrn")

    class LRN(evaluated.LRN):  # type: ignore[misc]
        def _run(self, x: Any, size: int, alpha: float, beta: float, bias: float) -> tuple[Any]:
            before, squares = (size - 1) // 2, np.zeros_like(x)
            for at in range(x.shape[1]):
                read = x[:, max(0, at - before) : at - before + size]
                squares[:, at] = np.sum(read * read, axis=1)
            return ((x / (bias + alpha / size * squares) ** beta).astype(x.dtype),)

    return LRN


def _scan() -> Any:
    """Scan along any axes, and backward; the evaluator's is along the first ones, forward."""
    evaluated: Any = _evaluated("op_scan")

    class Scan(evaluated.Scan):  # type: ignore[misc]
        def __init__(self, node: Any, run_params: Any) -> None:
            plain, self.turns = type(node)(), {}
            plain.CopyFrom(node)
            del plain.attribute[:]
            for each in node.attribute:
                if each.name.startswith("scan_"):
                    self.turns[each.name] = [*each.ints]
                else:
                    plain.attribute.append(each)
            super().__init__(plain, run_params)

        def _run(self, *args: Any, **given: Any) -> tuple[Any, ...]:
            states = len(args) - self.num_scan_inputs
            reads = self._turned(args[states:], "input")
            found = super()._run(*args[:states], *reads, **given)
            return (*found[:states], *self._turned(found[states:], "output"))

        def _turned(self, tensors: Any, side: str) -> list[Any]:
            axes, backward = (
                self.turns.get(f"scan_{side}_{what}", [0] * len(tensors))
                for what in ("axes", "directions")
            )
            ends = [(axis, 0) if side == "input" else (0, axis) for axis in axes]
            moved = [np.moveaxis(each, *pair) for each, pair in zip(tensors, ends, strict=True)]
            first = axes if side == "output" else [0] * len(axes)
            each = zip(moved, first, backward, strict=True)
            return [np.flip(tensor, axis) if turn else tensor for tensor, axis, turn in each]

    return Scan


def _of_floats(name: str) -> Any:
    """An operator whose result is of float32, also of integers: the evaluator has integers then."""
    module = "_".join(["op", *map(str.lower, re.findall("[A-Z][a-z]+", name))])
    evaluated: Any = getattr(_evaluated(module, "aionnxml."), name)

    def run(self: Any, x: Any, *args: Any, **given: Any) -> Any:
        x = x.astype(np.float32) if x.dtype.kind in "iu" else x
        return evaluated._run(self, x, *args, **given)

    return type(name, (evaluated,), {"_run": run})


def _normalizer(name: str) -> Any:
    """Normalizer by the largest number; the evaluator takes the largest absolute one."""
    floats: Any = _of_floats(name)

    class Normalizer(floats):  # type: ignore[misc]
        def _run(self, x: Any, norm: Any = None) -> tuple[Any, ...]:
            if norm != "MAX":
                return super()._run(x, norm)  # type: ignore[no-any-return]
            largest = x.max(axis=1, keepdims=True)
            return ((x / np.where(largest == 0, 1, largest)).astype(np.float32),)

    return Normalizer


def _is_wrong_of_trees(given: Mapping[str, Any]) -> bool:
    """Whether a TreeEnsembleClassifier scores one class alone, or has labels of no score.

    The evaluator takes all classes of one score for two, and a score that no leaf gives for 0.
    """
    labels = given.get("classlabels_strings") or given.get("classlabels_int64s", ())
    bases, weights = given.get("base_values"), given.get("class_weights", ())
    negative = not bases and len(labels) > 2 and min(weights, default=0) <= 0
    return len({*given.get("class_ids", ())}) == 1 or negative


_ML = "ai.onnx.ml"
_CORRECTED: dict[str, tuple[int, Callable[[], Any]]] = {
    "BatchNormalization": (_INFERENCE, _batch_normalization),
    "DequantizeLinear": (_DEQUANTIZED, _dequantize_linear),
    "GatherElements": (_NEWEST, _gather_elements),
    "GlobalMaxPool": (_NEWEST, _global_max_pool),
    "LRN": (_NEWEST, _lrn),
    "Loop": (_NEWEST, _loop),
    "Scan": (_NEWEST, _scan),
}
"""By operator, the version of ONNX's operators from which on the evaluator's is right."""
_ML_CORRECTED: dict[str, Callable[[str], Any]] = {
    "Normalizer": _normalizer,
    "LinearClassifier": _of_floats,
    "LinearRegressor": _of_floats,
    "Scaler": _of_floats,
    "TreeEnsembleRegressor": _of_floats,
}
_WRONG: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "ConvTranspose": lambda given: "output_shape" in given and "auto_pad" in given,
    "TreeEnsembleClassifier": _is_wrong_of_trees,
}
"""Operators, with these attributes, that the evaluator computes otherwise without saying so."""
