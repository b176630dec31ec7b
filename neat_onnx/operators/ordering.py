"""Elements by their order: largest, sorted, running, and where they stand.

A place that inputs decide is a row of hits: 1 for the element that it names, 0 for the others.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from neat_onnx.lifting.neurons import (
    Neurons,
    Tensor,
    apart,
    is_neurons,
    matmul,
    moved,
    multiply,
    stack,
)
from neat_onnx.lifting.operator import Array, operator, refuse
from neat_onnx.lifting.sums import ranked, remember_places
from neat_onnx.model.budget import require_elements
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z
from neat_onnx.operators.reductions import as_rows

_INT = np.dtype(np.int64)


def along_last(x: Tensor, axis: int, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Apply a function of vectors along the last axis to those along another."""
    last = moved(x, lambda array: np.moveaxis(array, axis, -1))
    return moved(function(last), lambda array: np.moveaxis(array, -1, axis))


def firsts(x: Tensor) -> Tensor:
    """1 for the first of the largest elements along the last axis, 0 for the others."""
    x, size = apart(x), x.shape[-1]
    require_elements(size, size)
    largest = (~(x < x.max(axis=-1, keepdims=True))).astype(float)  # of infinities as well
    return ((largest @ (np.eye(size) - np.triu(np.ones((size, size)), 1))) > 0.5).astype(float)


def ranks(x: Tensor) -> Tensor:
    """How many elements along the last axis are larger, or as large and stand before."""
    x, size = apart(x), x.shape[-1]
    require_elements(x.size, size)
    earlier, later = np.triu_indices(size, 1)
    holds = (~(x[..., earlier] < x[..., later])).astype(float)  # then the later one ranks behind
    weights = np.zeros((len(earlier), size))
    weights[np.arange(len(later)), later] = 1.0
    weights[np.arange(len(earlier)), earlier] = -1.0
    return holds @ weights + np.arange(size - 1.0, -1.0, -1.0)


def _extreme_place(name: str, sign: float) -> None:
    @operator(name)
    def place(
        data: Tensor, *, axis: int = 0, keepdims: bool = True, select_last_index: bool = False
    ) -> Tensor:
        size = data.shape[axis]
        rows = moved(multiply(real(data), sign), lambda array: np.moveaxis(array, axis, -1))
        rows = rows[..., ::-1] if select_last_index else rows
        places = np.arange(size - 1.0, -1.0, -1.0) if select_last_index else np.arange(float(size))
        found = integer(firsts(rows) @ places)
        remember_places(found, rows)
        return moved(found, lambda array: np.expand_dims(array, axis)) if keepdims else found


_extreme_place("ArgMax", 1.0)
_extreme_place("ArgMin", -1.0)


def typed(x: Tensor, kind: Any) -> Tensor:
    """Numbers that a type has, as that type."""
    return x.typed(kind) if isinstance(x, Neurons) else np.asarray(x).astype(kind)


def real(x: Tensor) -> Tensor:
    """Numbers as floats."""
    return typed(x, float)


def integer(x: Tensor) -> Tensor:
    """Numbers that are whole, as integers."""
    return typed(x, _INT)


@operator("TopK")
def top_k(
    x: Tensor, k: Array, *, axis: int = -1, largest: bool = True, sorted: Literal[True] = True
) -> tuple[Tensor, Tensor]:
    """The k largest elements and their places; equal ones in their order."""
    count, size = int(k.ravel()[0]), x.shape[axis]
    if not 0 <= count <= size:
        raise refuse("K", count, f"0 to {size}, the elements along axis {axis}")
    rows = moved(x, lambda array: np.moveaxis(array, axis, -1))
    order = real(rows) if largest else -real(rows)
    if count == 1:
        hits = firsts(order)[..., None, :]
    else:
        hits = (ranks(order)[..., None, :] == np.arange(float(count))[:, None]).astype(float)
    if isinstance(x, Neurons) and count:
        every = range(size, size - count, -1) if largest else range(1, count + 1)
        chosen = ranked(rows, [*every])
    else:
        chosen = matmul(hits, rows[..., None])[..., 0]
    found = chosen, integer(hits @ np.arange(float(size)))
    values, places = (moved(each, lambda array: np.moveaxis(array, -1, axis)) for each in found)
    return values, places


@operator("Hardmax")
def hardmax(x: Tensor, *, axis: int | None = None, opset: int = 13) -> Tensor:
    """1 for the first of the largest, 0 for the others."""
    rows, axis = as_rows(x, axis, opset)
    return along_last(rows, axis, firsts).reshape(x.shape)


def hits_of(places: Tensor, size: int) -> Tensor:
    """A row of hits for each place; one below 0 counts from the end."""
    require_elements(places.size, size)
    if not isinstance(places, Neurons):
        at = np.where(places < 0, places + size, places)
        return (at[..., None] == np.arange(size)).astype(float)
    at = places.typed(float)[..., None]
    counted = np.arange(float(size))
    return ((at == counted) | (at == counted - size)).astype(float)


@operator("OneHot", since=9)
def one_hot(indices: Tensor, depth: Array, values: Tensor, *, axis: int = -1) -> Tensor:
    hits = hits_of(indices, int(depth.ravel()[0]))
    chosen = hits * (values[1] - values[0]) + values[0]
    dtype = values.dtype
    chosen = chosen if is_neurons(chosen) else chosen.astype(dtype)
    return moved(chosen, lambda array: np.moveaxis(array, -1, axis))


@operator("CumSum", since=11)
def cumulative_sum(
    x: Tensor, axis: Array, *, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    size = x.shape[int(axis.item())]
    require_elements(size, size)
    reads = np.triu(np.ones((size, size)), int(exclusive))  # [from, to]
    return along_last(x, int(axis.item()), lambda rows: rows @ (reads.T if reverse else reads))


@operator("CumProd", since=26)
def cumulative_product(
    x: Tensor, axis: Array, *, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    def running(rows: Tensor) -> Tensor:
        parts = [rows[..., k] for k in range(rows.shape[-1])]
        parts = parts[::-1] if reverse else parts
        found: list[Any] = [parts[0] * 0.0 + 1.0 if exclusive else parts[0]]
        for part in parts[:-1] if exclusive else parts[1:]:
            found.append(found[-1] * part)
        return stack(found[::-1] if reverse else found, axis=-1)

    return along_last(x, int(axis.item()), running)


@operator("NonZero", since=9)
def nonzero(x: Array) -> Array:
    """The places of numbers that are not 0; how many neurons are not 0 is not known."""
    return np.stack(np.nonzero(np.asarray(x))) if np.ndim(x) else np.zeros((0, int(bool(x))), _INT)


@operator("IsNaN", since=9)
def is_nan(x: Tensor) -> Tensor:
    return x.apply(e.number(e.is_nan(z)), bool) if isinstance(x, Neurons) else np.isnan(x)


@operator("IsInf", since=10)
def is_infinite(x: Tensor, *, detect_negative: bool = True, detect_positive: bool = True) -> Tensor:
    found = e.is_infinite(z)
    if not detect_positive:
        found = e.call("both", found, e.less(z, 0.0))
    if not detect_negative:
        found = e.call("both", found, e.greater(z, 0.0))
    if isinstance(x, Neurons):
        return x.apply(e.number(found), bool)
    return np.asarray(found.evaluate(np.asarray(x, float))).astype(bool)
