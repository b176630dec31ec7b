"""Operators that onnx's reference evaluator computes otherwise than ONNX says.

They are of onnx 1.23. Those that many models have are put right, by classes that stand in for its
own; rarer ones are refused. The classes are made for the first model that needs one, because those
of the evaluator take a while to import.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.model import Model, Node
from neat_onnx.model.wiring import nodes_within

_ML = "ai.onnx.ml"


def corrected(model: Model) -> list[Any]:
    """The classes of a model's operators that the evaluator lacks, or computes otherwise.

    Raises:
        ModelError: it computes one otherwise, and nothing stands in; says which.
    """
    nodes = list(nodes_within(model.graph))
    for node in nodes:
        if _is_wrong(node, model):
            raise ModelError(
                f"node {node.label}: onnx's evaluator computes another result than ONNX says",
                where=node.name or None,
                hint="Have onnxruntime, which computes this one: pip install onnxruntime",
            )
    operators = {node.op_type for node in nodes if node.domain != _ML}
    return [
        type(name, (getattr(_evaluated(module), base),), {"_run": run} if run else {})
        for name, (before, module, base, run) in _CORRECTED.items()
        if name in operators and model.opset < before
    ]


def _is_wrong(node: Node, model: Model) -> bool:
    """Whether the evaluator computes another result, and nothing stands in.

    Of integers, some operators of ai.onnx.ml give integers in it. It takes all classes of one score
    of a TreeEnsembleClassifier for two, and a score that no leaf gives for 0.
    """
    given = node.given_attributes
    if node.domain != _ML:
        auto = "output_shape" in given and "auto_pad" in given
        return node.op_type == "LRN" or (node.op_type == "ConvTranspose" and auto)
    if node.op_type == "TreeEnsembleClassifier":
        labels = given.get("classlabels_strings") or given.get("classlabels_int64s", ())
        negative = not given.get("base_values") and min(given.get("class_weights", (0,))) <= 0
        return len({*given.get("class_ids", ())}) == 1 or (negative and len(labels) > 2)
    whole = {entry.name for entry in model.graph.inputs if entry.elem_type.is_integer}
    of_integers = node.op_type in _OF_FLOATS and not whole.isdisjoint(node.input)
    return of_integers or given.get("norm") == "MAX"  # the largest absolute number in it


_OF_FLOATS = (
    *("Normalizer", "LinearClassifier", "LinearRegressor", "Scaler", "TreeEnsembleRegressor"),
)


def _evaluated(module: str) -> Any:
    return import_module(f"onnx.reference.ops.{module}")


def _batch_normalization(
    self: Any, x: Any, *given: Any, epsilon: float = 1e-5, **_: Any
) -> tuple[Any, ...]:
    """BatchNormalization by the mean and the variance that it is given.

    The evaluator takes old ones that state a momentum, as PyTorch writes them, to be in training.
    """
    test_mode = _evaluated("op_batch_normalization")._batchnorm_test_mode
    return (test_mode(x, *given, epsilon=epsilon),)


def _gather_elements(self: Any, x: Any, indices: Any, axis: int = 0) -> tuple[Any, ...]:
    """GatherElements of fewer indices than there are elements along any axis."""
    read = [slice(size) for size in indices.shape]
    read[axis] = slice(None)
    return (np.take_along_axis(x[tuple(read)], indices.astype(np.int64), axis),)


def _global_max_pool(self: Any, x: Any) -> tuple[Any, ...]:
    """GlobalMaxPool over one axis or three; the evaluator's is over two."""
    return (x.max(axis=tuple(range(2, x.ndim)), keepdims=True),)


def _loop(
    self: Any, most: Any, cond: Any, *args: Any, context: Any = None, **given: Any
) -> tuple[Any, ...]:
    """Loop whose outputs of all steps have an axis for these, and which may have no condition.

    The evaluator puts the steps one after the other along the first axis that each of them has.
    """
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


def _none_of(kind: Any) -> Any:
    """No tensors of a type, one after the other; of an axis that is open there are no elements."""
    from onnx import helper  # noqa: PLC0415 - slow to import

    tensor = kind.tensor_type
    sizes = [size.dim_value for size in tensor.shape.dim]
    return np.empty((0, *sizes), helper.tensor_dtype_to_np_dtype(tensor.elem_type))


_NEWEST = 1000  # more than any version of ONNX's operators
_CORRECTED: dict[str, tuple[int, str, str, Callable[..., tuple[Any, ...]] | None]] = {
    "BatchNormalization": (
        *(14, "op_batch_normalization", "BatchNormalization_14"),
        _batch_normalization,
    ),
    "DequantizeLinear": (19, "op_dequantize_linear", "_CommonDequantizeLinear", None),
    "GatherElements": (_NEWEST, "op_gather_elements", "GatherElements", _gather_elements),
    "GlobalMaxPool": (_NEWEST, "op_global_max_pool", "GlobalMaxPool", _global_max_pool),
    "Loop": (_NEWEST, "op_loop", "Loop", _loop),
}
"""By operator, the version of ONNX's operators from which on the evaluator's is right, the module
and the class that it is made of, and how that computes; None: as it does for later versions.
"""
