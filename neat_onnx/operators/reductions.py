"""Reductions of axes, and the functions of rows made of them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from neat_onnx.lifting.neurons import Tensor, absolute, divide, exp, log, sqrt, square, truncated
from neat_onnx.lifting.operator import Array, axis_within, operator
from neat_onnx.operators.layout import flatten

Axes = tuple[int, ...]


def _log_sum_exp(x: Any, axis: Axes, keepdims: bool) -> Any:
    if not x.size:
        return log(exp(x).sum(axis=axis, keepdims=keepdims))
    most = x.max(axis=axis, keepdims=True)
    total = log(exp(x - most).sum(axis=axis, keepdims=True)) + most
    return total if keepdims else total.sum(axis=axis)


_REDUCTIONS: dict[str, Callable[[Any, Axes, bool], Any]] = {
    "ReduceSum": lambda x, axis, keep: x.sum(axis=axis, keepdims=keep),
    "ReduceMean": lambda x, axis, keep: x.mean(axis=axis, keepdims=keep),
    "ReduceMax": lambda x, axis, keep: x.max(axis=axis, keepdims=keep),
    "ReduceMin": lambda x, axis, keep: x.min(axis=axis, keepdims=keep),
    "ReduceProd": lambda x, axis, keep: x.prod(axis=axis, keepdims=keep),
    "ReduceL1": lambda x, axis, keep: absolute(x).sum(axis=axis, keepdims=keep),
    "ReduceL2": lambda x, axis, keep: sqrt(square(x).sum(axis=axis, keepdims=keep)),
    "ReduceSumSquare": lambda x, axis, keep: square(x).sum(axis=axis, keepdims=keep),
    "ReduceLogSum": lambda x, axis, keep: log(x.sum(axis=axis, keepdims=keep)),
    "ReduceLogSumExp": _log_sum_exp,
}


_REAL = ("ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp")
"""Those of integers are rounded towards 0."""


def _register(name: str, function: Callable[[Any, Axes, bool], Any]) -> None:
    @operator(name)
    def reduce(
        data: Tensor, axes: Array | None = None, *, keepdims: bool = True,
        noop_with_empty_axes: bool = False,
    ) -> Any:  # fmt: skip
        if axes is None or not axes.size:
            kept = () if noop_with_empty_axes else tuple(range(data.ndim))
        else:
            kept = tuple(axis_within(each, data.ndim, "axes") for each in axes.ravel())
        found = function(data, kept, keepdims)
        if data.dtype.kind not in "iu" or name not in _REAL:
            return found
        if name == "ReduceMean":
            count = np.prod([data.shape[k] for k in kept], dtype=int)
            return divide(data.sum(axis=kept, keepdims=keepdims), count)
        return truncated(found).astype(data.dtype)


for _name, _function in _REDUCTIONS.items():
    _register(_name, _function)


def as_rows(x: Tensor, axis: int | None, opset: int) -> tuple[Tensor, int]:
    """Before opset 13 the rows of a softmax are all axes from `axis` on."""
    if opset >= 13:
        return x, axis_within(-1 if axis is None else axis, x.ndim)
    return flatten(x, axis=1 if axis is None else axis), 1


@operator("Softmax")
def softmax(x: Tensor, *, axis: int | None = None, opset: int = 13) -> Tensor:
    """exp(x) / Σ exp(x), the largest taken out so that nothing overflows."""
    rows, axis = as_rows(x, axis, opset)
    spread = exp(rows - rows.max(axis=axis, keepdims=True))
    return (spread / spread.sum(axis=axis, keepdims=True)).reshape(x.shape)


@operator("LogSoftmax")
def log_softmax(x: Tensor, *, axis: int | None = None, opset: int = 13) -> Tensor:
    rows, axis = as_rows(x, axis, opset)
    below = rows - rows.max(axis=axis, keepdims=True)
    return (below - log(exp(below).sum(axis=axis, keepdims=True))).reshape(x.shape)
