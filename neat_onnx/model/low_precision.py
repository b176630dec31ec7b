"""Elements of 8 bits or fewer that weights alone have: floats of 8 or 4 bits, and integers of 4.

Elements of 4 bits are two a byte, the first in the lower half.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neat_onnx.model.data_type import DataType

Array = NDArray[Any]


class _Floats(NamedTuple):
    """The bits of a float behind its sign, and the numbers that are none.

    Attributes:
        fraction: the bits behind the exponent.
        bias: of the exponent.
        infinite, nan: the codes without sign that are infinite, and no number.
        signed_nan: the code with sign that is the only one that is no number, if any: −0 elsewhere.
    """

    fraction: int
    bias: int
    infinite: tuple[int, ...] = ()
    nan: tuple[int, ...] = ()
    signed_nan: bool = False


_FLOATS = {
    DataType.FLOAT8E4M3FN: _Floats(3, 7, nan=(0x7F,)),
    DataType.FLOAT8E4M3FNUZ: _Floats(3, 8, signed_nan=True),
    DataType.FLOAT8E5M2: _Floats(2, 15, infinite=(0x7C,), nan=(0x7D, 0x7E, 0x7F)),
    DataType.FLOAT8E5M2FNUZ: _Floats(2, 16, signed_nan=True),
    DataType.FLOAT4E2M1: _Floats(1, 1),
}


@cache
def _numbers(kind: DataType) -> Array:
    """The number of each code of a type of floats."""
    given, half = _FLOATS[kind], 2 ** (kind.bits - 1)
    codes = np.arange(half)
    exponent, fraction = codes >> given.fraction, codes & (2**given.fraction - 1)
    digits = fraction / 2**given.fraction + (exponent > 0)
    numbers = np.ldexp(digits, np.maximum(exponent, 1) - given.bias)
    numbers[list(given.infinite)] = np.inf
    numbers[list(given.nan)] = np.nan
    signed = -numbers
    if given.signed_nan:
        signed[0] = np.nan
    return np.concatenate([numbers, signed])


def decoded(content: Array, kind: DataType, count: int) -> Array:
    """The numbers of elements, given as bytes.

    Args:
        content: the bytes, uint8.
        kind: the type.
        count: how many elements there are.
    """
    codes = content
    if kind.bits < 8:
        codes = np.stack([content & 15, content >> 4], axis=-1).ravel()[:count]
    if kind in _FLOATS:
        numbers: Array = _numbers(kind)[codes]
        return numbers
    whole = codes.astype(np.int64)
    return np.where(whole > kind.limits[1], whole - 2**kind.bits, whole)


def encoded(values: Array, kind: DataType) -> Array:
    """The bytes of numbers; floats become the nearest of their type."""
    flat = values.ravel()
    if kind in _FLOATS:
        codes = _nearest(flat, kind)
    else:
        codes = (flat & (2**kind.bits - 1)).astype(np.uint8)
    if kind.bits == 8:
        return codes
    pairs = np.append(codes, np.zeros(codes.size % 2, np.uint8)).reshape(-1, 2)
    packed: Array = pairs[:, 0] | pairs[:, 1] << 4
    return packed


def _nearest(values: Array, kind: DataType) -> Array:
    """The codes of the nearest numbers of a type of floats, of even ones where two are as near."""
    numbers = _numbers(kind)
    half = len(numbers) // 2
    steps = np.flatnonzero(np.isfinite(numbers[:half]))
    sizes = numbers[steps]
    size = np.minimum(np.abs(values), sizes[-1])
    above = np.searchsorted(sizes, size).clip(1, len(sizes) - 1)
    low, high = size - sizes[above - 1], sizes[above] - size
    at = above - ((low < high) | ((low == high) & (above % 2 == 1)))
    given = _FLOATS[kind]
    negative = np.signbit(values) & ~(given.signed_nan & (at == 0))
    codes = steps[np.where(np.isnan(values), 0, at)] + half * negative
    if np.isinf(values).any() and given.infinite:
        codes = np.where(np.isinf(values), given.infinite[0] + half * np.signbit(values), codes)
    if np.isnan(values).any():
        codes = np.where(np.isnan(values), half if given.signed_nan else half - 1, codes)
    held: Array = codes.astype(np.uint8)
    return held
