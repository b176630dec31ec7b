"""Constants, shapes and types."""

import math
from typing import Any

import numpy as np

from neat_onnx.lifting.neurons import Neurons, Tensor, floor
from neat_onnx.lifting.operator import Array, Floats, Ints, operator, refuse
from neat_onnx.model import DataType
from neat_onnx.model.budget import require_elements
from neat_onnx.model.data_type import supported
from neat_onnx.network.expression import Expression

_MOST_BITS = 16
_EXPORTED = (DataType.BOOL, DataType.INT32, DataType.INT64)


@operator("Constant")
def constant(
    *, value: Array | None = None, value_float: float | None = None, value_int: int | None = None,
    value_floats: Floats | None = None, value_ints: Ints | None = None,
) -> Array:  # fmt: skip
    floats = value_float if value_floats is None else value_floats
    integers = value_int if value_ints is None else value_ints
    if value is None and floats is None and integers is None:
        raise refuse("value", "not given", "a tensor")
    if value is not None:
        return value
    return np.asarray(integers, np.int64) if floats is None else np.asarray(floats, float)


@operator("ConstantOfShape", since=9)
def constant_of_shape(input: Array, *, value: Array | None = None) -> Array:
    require_elements(*input)
    fill = np.zeros(1) if value is None else value
    return np.full(tuple(map(int, input)), fill.ravel()[0], fill.dtype)


@operator("Shape")
def shape(data: Tensor, *, start: int = 0, end: int | None = None) -> Array:
    return np.array(data.shape, np.int64)[start:end]


@operator("Size")
def size(data: Tensor) -> Array:
    return np.array(data.size, np.int64)


@operator("Range", since=11)
def arange(start: Array, limit: Array, delta: Array) -> Array:
    count = (limit.item() - start.item()) / delta.item()
    require_elements(math.ceil(max(0.0, count)))
    return np.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


def numpy_type(to: int | str) -> np.dtype[Any]:
    """The type in which numbers of an element type of ONNX are held: floats are float64."""
    kind = (DataType[to] if isinstance(to, str) else supported(to)).dtype
    return np.dtype(np.float64) if kind.kind == "f" else kind


@operator("Cast")
def cast(input: Tensor, *, to: int, saturate: bool = True, round_mode: str = "up") -> Tensor:
    if isinstance(input, Neurons) and input.tape.ids and to in _EXPORTED:
        # it rounds nothing, as `genome/metadata.py` makes sure of
        return input.typed(numpy_type(to))
    return _cut_off(input.astype(numpy_type(to)), input)


def _cut_off(x: Tensor, before: Tensor) -> Tensor:
    """Integers of 8 and 16 bits as these hold them: modulo their number."""
    kind, bits = x.dtype, 8 * x.dtype.itemsize
    if not isinstance(x, Neurons) or kind.kind not in "iu" or bits > _MOST_BITS:
        return x
    least = 0.0 if kind.kind == "u" else -(2.0 ** (bits - 1))
    if before.dtype.kind == "b" or _is_within(x.formula, least, least + 2.0**bits - 1.0):
        return x
    real = x.typed(float) - least
    return (real - 2.0**bits * floor(real / 2.0**bits) + least).typed(kind)


def _is_within(formula: Expression, low: float, high: float) -> bool:
    """Whether a formula is bounded, at most by rounding again, within these numbers."""
    while formula.op in ("round", "floor", "ceil"):
        (formula,) = formula.args
    if formula.op == "number":
        return True
    if formula.op != "clip":
        return False
    _, least, most = formula.args
    return bool(low <= least.value and most.value <= high)


@operator("CastLike", since=15)
def cast_like(
    input: Tensor, target_type: Tensor, *, saturate: bool = True, round_mode: str = "up"
) -> Tensor:
    return _cut_off(input.astype(target_type.dtype), input)
