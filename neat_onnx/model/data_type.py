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
        """numpy's type of an element; it has none for BFLOAT16, whose numbers float32 holds."""
        return _DTYPES[self]

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
