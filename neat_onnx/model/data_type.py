"""DataType, the element type of a tensor; and numbers as JSON gives them.

Protobuf's JSON writes int64 as decimal strings, so those are integers too. A bool is no number.
Errors are ValueErrors whose text goes on from the name of the field: "is null".
"""

import math
import re
from collections.abc import Callable
from enum import IntEnum
from functools import partial
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

    @property
    def dtype(self) -> np.dtype[Any]:
        """numpy's type of an element."""
        return _DTYPES[self]

    @property
    def is_integer(self) -> bool:
        """Whether elements are integers, of any width."""
        return self.dtype.kind in "iu"

    @property
    def is_discrete(self) -> bool:
        """Whether elements are integers, or truth values."""
        return self.is_integer or self is DataType.BOOL


_NAMED_OTHERWISE = {"FLOAT": "float32", "DOUBLE": "float64"}
_DTYPES = {kind: np.dtype(_NAMED_OTHERWISE.get(kind.name, kind.name.lower())) for kind in DataType}
_ADVICE = {
    0: "state its type; ONNX infers those of outputs where nodes stand in their order",
    8: "encode texts as numbers outside of the model",
}
_OTHER_ADVICE = "save the weights as FLOAT, or as INT8 with a scale"


def supported(value: Any) -> DataType:
    """The DataType of ONNX's number `value`.

    Raises:
        ValueError: it is not one of those supported; the text has its ONNX name.
    """
    number = integer(value)
    if number in DataType._value2member_map_:
        return DataType(number)
    from onnx import TensorProto  # noqa: PLC0415 - slow to import

    known = number in TensorProto.DataType.values()
    name = TensorProto.DataType.Name(number) if known else "unknown"
    advice = _ADVICE.get(number, _OTHER_ADVICE)
    raise ValueError(f"{number} ({name}) not supported: {advice}")


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


def finite(value: Any, *, infinite: bool = False) -> float:
    """`value` as a finite float.

    With `infinite` NaN and the infinities are texts, as JSON has no numbers for them.

    Raises:
        ValueError: it is no number, or not a finite one.
    """
    if value is None:
        raise ValueError("is null")
    if isinstance(value, str) and value in _NON_FINITE:
        if infinite:
            return _NON_FINITE[value]
        raise ValueError("is not a finite number")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is not a number")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("is out of range") from None
    if not math.isfinite(number):
        raise ValueError("is not a finite number")
    return number


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
    number = partial(finite, infinite=infinite) if floats else integer
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
