"""DataType, the element type of a tensor; and numbers as JSON gives them.

Protobuf's JSON writes int64 as decimal strings, so those are integers too. A bool is no number.
Errors are ValueErrors whose text goes on from the name of the field: "is null".
"""

import math
import re
from collections.abc import Callable
from enum import IntEnum
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, WithJsonSchema

_DECIMAL = re.compile(r"-?[0-9]{1,19}")
_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


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
_ADVICE[0] = ": state its type; ONNX infers those of outputs where nodes stand in their order"
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


def integer(value: Any) -> int:
    """`value` as an int that 64 bits hold: an int, or a string of decimal digits.

    Raises:
        ValueError: it is neither, or too large.
    """
    if isinstance(value, bool) or not (
        isinstance(value, int | np.integer)
        or (isinstance(value, str) and _DECIMAL.fullmatch(value))
    ):
        raise ValueError("is null" if value is None else "is not an integer")
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise ValueError("is out of range")
    return number


def finite(value: Any) -> float:
    """`value` as a finite float.

    Raises:
        ValueError: it is no number, or not a finite one.
    """
    if value is None:
        raise ValueError("is null")
    if isinstance(value, str) and value in _NON_FINITE:
        value = _NON_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is not a number")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("is out of range") from None
    if not math.isfinite(number):
        raise ValueError("is not a finite number")
    return number


def finite_or_text(value: Any) -> float:
    """`value` as a float; NaN and the infinities are texts, as JSON has no numbers for them.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, str) and value in _NON_FINITE:
        return _NON_FINITE[value]
    return finite(value)


def as_text(number: float) -> float | str:
    """`number`, or the text that JSON has in place of NaN and the infinities."""
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def number_list(
    content: Any, field: str, memory: type[np.generic], *, infinite: bool = False
) -> NDArray[Any]:
    """The numbers of a JSON list, (n,), as `memory`. A good list costs no Python per number.

    Args:
        content: the list.
        field: how messages call it.
        memory: the type of the result.
        infinite: "NaN", "Infinity" and "-Infinity" are numbers too.

    Raises:
        ValueError: it is no list of such numbers; the text begins with `field`, where it stands.
    """
    if not isinstance(content, list):
        raise ValueError(f"{field} is not a list")
    floats = memory is np.float64
    number = (finite_or_text if infinite else finite) if floats else integer
    kept: Any = np.int64 if memory is np.bool_ else memory
    if not set(map(type, content)) <= ({float, int} if floats else {int}):
        return np.array(_each(content, field, number), kept).astype(memory)
    try:
        found = np.array(content, kept).astype(memory, copy=False)
    except OverflowError:
        return np.array(_each(content, field, number))
    if floats:
        check_finite(found, field, infinite=infinite)
    return found


def _each(content: list[Any], field: str, number: Callable[[Any], float]) -> list[float]:
    """`number` of each entry: the slow way, for texts and to say which is wrong."""
    numbers = []
    for at, entry in enumerate(content):
        try:
            numbers.append(number(entry))
        except ValueError as error:
            raise ValueError(f"{field}[{at}] {error}") from None
    return numbers


def check_finite(numbers: NDArray[Any], field: str, *, infinite: bool = False) -> None:
    """Raises ValueError if one of the floats is not finite; the text says which, in C order.

    With `infinite` the infinities pass, and NaN does not.
    """
    fine = ~np.isnan(numbers) if infinite else np.isfinite(numbers)
    if not fine.all():
        at = int(np.argmin(fine.ravel()))
        raise ValueError(f"{field}[{at}] is not a finite number")


MAX_COUNT = 2**31 - 1
"""The most elements along an axis."""

Count = Annotated[int, Field(ge=0, le=MAX_COUNT), BeforeValidator(integer)]
Version = Annotated[int, Field(ge=1, le=2**31 - 1), BeforeValidator(integer)]

MAY_BE_NAN = WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": [*_NON_FINITE]}]})
