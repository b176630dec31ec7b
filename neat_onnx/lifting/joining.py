"""Moving elements of several arrays, of numbers or of neurons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from neat_onnx.lifting.pending import Pending, as_neurons, is_neurons
from neat_onnx.lifting.tape import CONSTANT, Array
from neat_onnx.model.budget import require_elements
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import Floats, Ints


def joined(tensors: Sequence[Any], join: Callable[[list[Array]], Array]) -> Any:
    """Apply a function that joins the elements of several arrays."""
    require_elements(sum(x.size if isinstance(x, Pending) else np.size(x) for x in tensors))
    if not is_neurons(*tensors):
        return join([np.asarray(each) for each in tensors])
    first = next(each for each in tensors if isinstance(each, Pending))
    parts = [as_neurons(each, first) for each in tensors]
    formulas = {part.formula for part in parts if part.ids.size and part.ids.max() >= 0}
    formula = next(iter(formulas), VARIABLE)
    if len(formulas) > 1:
        parts, formula = [_without_formula(part) for part in parts], VARIABLE
    ids = join([part.ids for part in parts])
    factor, shift = (
        _join_numbers([getattr(p, name) for p in parts], parts, join)
        for name in ("factor", "shift")
    )
    return first.of(ids, formula, factor, shift, first.dtype)


def _without_formula(part: Pending) -> Pending:
    """The same elements, of which the formulas are signals."""
    ids, factor, shift = part.linear()
    return part.of(ids, VARIABLE, factor, shift)


def _join_numbers(
    values: list[Floats | float], parts: list[Pending], join: Callable[[list[Array]], Array]
) -> Floats | float:
    if all(isinstance(each, float) for each in values) and len({*values}) == 1:
        return values[0]
    return join([np.broadcast_to(v, p.shape) for v, p in zip(values, parts, strict=True)])


def concat(tensors: Sequence[Any], axis: int) -> Any:
    """Join arrays along an axis they have."""
    return joined(tensors, lambda arrays: np.concatenate(arrays, axis))


def stack(tensors: Sequence[Any], axis: int = 0) -> Any:
    """Join arrays along a new axis."""
    return joined(tensors, lambda arrays: np.stack(arrays, axis))


def moved(x: Any, change: Callable[[Array], Array]) -> Any:
    """Apply a function that moves, repeats or leaves out elements of an array."""
    return x.moved(change) if isinstance(x, Pending) else change(np.asarray(x))


def take(x: Any, index: Any, axis: int = 0) -> Any:
    """As numpy's; places are numbers."""
    require_elements(x.size // max(1, x.shape[axis]), np.size(index))
    return moved(x, lambda array: np.take(array, index, axis))


def take_or(x: Any, index: Ints, value: float) -> Any:
    """Elements of the last axis at these places, and a number at places below 0."""
    outside = index < 0
    found = take(x, np.where(outside, 0, index), -1)
    if not outside.any():
        return found
    if not isinstance(found, Pending):
        return np.where(outside, value, found)
    shift = np.where(outside, value, np.broadcast_to(found.shift, found.shape))
    ids = np.where(outside, CONSTANT, found.ids)
    return found.of(ids, found.formula, found.factor, shift, found.dtype)


def pad(x: Any, widths: Sequence[tuple[int, int]], value: Any = 0.0, mode: str = "constant") -> Any:
    """As numpy's; the modes are numpy's as well."""
    require_elements(*(a + d + b for (a, b), d in zip(widths, x.shape, strict=True)))
    if mode != "constant":
        return moved(x, lambda array: np.pad(array, widths, mode))  # type: ignore[call-overload]
    if not any(map(any, widths)):
        return x
    if not isinstance(x, Pending):
        return np.pad(x, widths, constant_values=value)
    ids = np.pad(x.ids, widths, constant_values=CONSTANT)
    factor = x.factor if isinstance(x.factor, float) else np.pad(x.factor, widths)
    shift = np.pad(np.broadcast_to(x.shift, x.shape), widths, constant_values=float(value))
    return x.of(ids, x.formula, factor, shift.astype(np.float64), x.dtype)
