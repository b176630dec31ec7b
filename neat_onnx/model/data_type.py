"""DataType: the element type of a tensor."""

from enum import IntEnum
from typing import Any

import numpy as np

from neat_onnx.model.numbers import integer


class DataType(IntEnum):
    """The element types that are supported, by ONNX's numbers."""

    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    BFLOAT16 = 16
    FLOAT8E4M3FN = 17
    FLOAT8E4M3FNUZ = 18
    FLOAT8E5M2 = 19
    FLOAT8E5M2FNUZ = 20
    UINT4 = 21
    INT4 = 22
    FLOAT4E2M1 = 23

    @property
    def dtype(self) -> np.dtype[Any]:
        """numpy's type of an element; of those that it lacks, one that holds their numbers."""
        return _DTYPES[self]

    @property
    def bits(self) -> int:
        """The bits of an element in a file."""
        return _BITS.get(self, 8 * self.dtype.itemsize)

    @property
    def is_held_wider(self) -> bool:
        """Whether numpy lacks the type, and `dtype` is a larger one."""
        return self >= DataType.BFLOAT16

    @property
    def is_of_weights(self) -> bool:
        """Whether weights alone have such numbers: no operator but a cast reads them."""
        return self > DataType.BFLOAT16

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest integer of a type of integers."""
        half = 1 << (self.bits - 1)
        return (0, 2 * half - 1) if self.dtype.kind == "u" else (-half, half - 1)

    @property
    def is_integer(self) -> bool:
        """Whether elements are integers, of any width."""
        return self.dtype.kind in "iu"

    @property
    def is_discrete(self) -> bool:
        """Whether elements are integers, or truth values."""
        return self.is_integer or self is DataType.BOOL


_BITS = {DataType.BFLOAT16: 16, DataType.UINT4: 4, DataType.INT4: 4, DataType.FLOAT4E2M1: 4}
_BITS |= {kind: 8 for kind in DataType if kind.name.startswith("FLOAT8")}
_NAMED_OTHERWISE = {"FLOAT": "float32", "DOUBLE": "float64", "UINT4": "uint8", "INT4": "int8"}
_DTYPES = {
    kind: np.dtype(
        "float32"
        if kind.is_held_wider and "FLOAT" in kind.name
        else _NAMED_OTHERWISE.get(kind.name, kind.name.lower())
    )
    for kind in DataType
}
_TEXT = "STRING"
_UNSUPPORTED = {0: "UNDEFINED", 8: _TEXT, 14: "COMPLEX64", 15: "COMPLEX128"}


def supported(value: Any) -> DataType:
    """The DataType of ONNX's number `value`.

    Raises:
        ValueError: it is not one of those supported; the text has its ONNX name.
    """
    number = integer(value)
    try:
        return DataType(number)
    except ValueError:
        name = _UNSUPPORTED.get(number, "a low-precision or unknown type")
        advice = ": encode texts as numbers outside of the model" if name == _TEXT else ""
        raise ValueError(f"{number} ({name}) not supported{advice}") from None


def supported_of_values(value: Any) -> DataType:
    """The DataType of ONNX's number `value`, which an input or an output can have.

    Raises:
        ValueError: it is not supported, or weights alone have it; the text has its ONNX name.
    """
    found = supported(value)
    if found.is_of_weights:
        raise ValueError(f"{int(found)} ({found.name}) not supported but of weights")
    return found
