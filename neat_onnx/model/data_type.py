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

    @property
    def dtype(self) -> np.dtype[Any]:
        """numpy's type of an element; float32 of BFLOAT16, which it lacks."""
        return _DTYPES[self]

    @property
    def bits(self) -> int:
        """The bits of an element in a file."""
        return 16 if self.is_held_wider else 8 * self.dtype.itemsize

    @property
    def is_held_wider(self) -> bool:
        """Whether numpy lacks the type, and `dtype` is a larger one."""
        return self is DataType.BFLOAT16

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


_NAMED_OTHERWISE = {"FLOAT": "float32", "DOUBLE": "float64", "BFLOAT16": "float32"}
_DTYPES = {kind: np.dtype(_NAMED_OTHERWISE.get(kind.name, kind.name.lower())) for kind in DataType}
_UNSUPPORTED = {0: "UNDEFINED", 8: "STRING", 14: "COMPLEX64", 15: "COMPLEX128"}
_LOW_PRECISION = {
    17: "FLOAT8E4M3FN", 18: "FLOAT8E4M3FNUZ", 19: "FLOAT8E5M2", 20: "FLOAT8E5M2FNUZ",
    21: "UINT4", 22: "INT4", 23: "FLOAT4E2M1",
}  # fmt: skip
_ADVICE = dict.fromkeys(_LOW_PRECISION, ": save the weights as FLOAT, or as INT8 with a scale")
_ADVICE[8] = ": encode texts as numbers outside of the model"


def supported(value: Any) -> DataType:
    """The DataType of ONNX's number `value`.

    Raises:
        ValueError: it is not one of those supported; the text has its ONNX name.
    """
    number = integer(value)
    try:
        return DataType(number)
    except ValueError:
        name = (_UNSUPPORTED | _LOW_PRECISION).get(number, "unknown")
        raise ValueError(f"{number} ({name}) not supported{_ADVICE.get(number, '')}") from None
