"""Numbers that are multiples of a scale: the scale, and the integers that they are stored as.

A number is `k` times a scale if it is their product in float32, bit for bit, for an integer `k` of
255 or less. The largest of some numbers is one of 255 multiples of the scale, so that there are few
scales to try; the first numbers are enough to see that random ones have none.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neat_onnx.model import DataType

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_MAX_STEPS = 255  # integers of 8 bits
_TRIED_FIRST = 16  # numbers that are looked at before the others
_ROUNDING = _MAX_STEPS * 2.0**-22  # of a quotient of two numbers in float32, times the largest k
_MIN_SCALE = float(np.finfo(np.float32).tiny)
_COUNTS = np.arange(1.0, _MAX_STEPS + 1)[:, None]
_INT8 = np.iinfo(np.int8)


class QuantizedNumbers(NamedTuple):
    """Numbers as integers of 8 bits: (stored - zero_point) · scale, as float32 has that product.

    Attributes:
        stored: the integers, or numbers of 16 bits.
        data_type: their type.
        zero_point, scale: of an axis each, 1 for all others, or of no axis at all.
    """

    stored: Ints | Floats
    data_type: DataType
    zero_point: Floats
    scale: Floats


def quantized(numbers: Floats, axis: int | None) -> QuantizedNumbers | None:
    """Numbers as integers with one scale, or one each along an axis; None if there is none."""
    rows = [numbers] if axis is None else np.moveaxis(numbers, axis, 0)
    found: list[float] = []
    for row in rows:
        one = _scale_of(row.reshape(-1))
        if one is None:
            return None
        found.append(one)
    shape = [-1 if k == axis else 1 for k in range(numbers.ndim)] if axis is not None else []
    scale = np.array(found).reshape(shape)
    whole = np.rint(numbers / scale)
    is_minus_zero = (numbers == 0.0) & np.signbit(numbers)
    if not np.array_equal(_product(whole, scale), numbers) or np.any(is_minus_zero):
        return None
    return _stored(whole.astype(np.int64), scale, axis)


def _stored(whole: Ints, scale: Floats, axis: int | None) -> QuantizedNumbers | None:
    others = tuple(k for k in range(whole.ndim) if k != axis)
    least = np.min(whole, axis=others, initial=0).reshape(scale.shape)
    most = np.max(whole, axis=others, initial=0).reshape(scale.shape)
    if np.any(most - least > _MAX_STEPS):
        return None
    if np.all((least >= _INT8.min) & (most <= _INT8.max)):
        return QuantizedNumbers(whole, DataType.INT8, np.zeros_like(scale), scale)
    return QuantizedNumbers(whole - least, DataType.UINT8, -least.astype(np.float64), scale)


def _scale_of(numbers: Floats) -> float | None:
    """The largest scale that all these numbers are multiples of; 1 for zeros."""
    if not _may_be_multiples(numbers[:_TRIED_FIRST]):
        return None
    numbers = np.abs(numbers[numbers != 0.0])
    if not _may_be_multiples(numbers[:_TRIED_FIRST]):
        return None
    distinct = np.unique(numbers)
    if not distinct.size:
        return 1.0
    if distinct.size > _MAX_STEPS:
        return None
    return next((scale for scale in _scales(distinct) if _are_multiples(distinct, scale)), None)


def _may_be_multiples(numbers: Floats) -> bool:
    if not np.any(numbers):
        return True
    as_held = np.array_equal(numbers, numbers.astype(np.float32))
    return as_held and _multiples(np.abs(numbers)).size > 0


def _are_multiples(numbers: Floats, scale: float) -> bool:
    """Whether sorted numbers are multiples of a scale."""
    if scale < _MIN_SCALE or numbers[-1] > (_MAX_STEPS + 1) * scale:
        return False
    return np.array_equal(_product(np.rint(numbers / scale), scale), numbers)


def _scales(numbers: Floats) -> Iterator[float]:
    """The scales that sorted numbers can be multiples of, the largest first."""
    yield float(numbers[0])
    for count in _multiples(numbers):
        near = np.float32(numbers[-1] / count)
        yield from (float(np.nextafter(near, np.float32(end))) for end in (near, 0.0, np.inf))


def _multiples(numbers: Floats) -> Floats:
    """The k that the largest number can have, if all are multiples of one scale."""
    largest = np.max(numbers, initial=0.0)
    steps = numbers * (_COUNTS / (largest or 1.0))
    fitting: Floats = _COUNTS[np.all(np.abs(steps - np.rint(steps)) <= _ROUNDING, axis=1), 0]
    return fitting


def _product(whole: Floats, scale: Floats | float) -> Floats:
    """The product as a runtime has it."""
    product: Floats = np.multiply(whole, scale, dtype=np.float32).astype(np.float64)
    return product
