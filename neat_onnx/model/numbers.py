"""Numbers as JSON gives them: what is an integer, what is a finite float.

Protobuf's JSON writes int64 as decimal strings, so those are integers too. A bool is no number.
Errors are ValueErrors that go on from the name of what is wrong: "is null".
"""

import math
import re
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

_DECIMAL = re.compile(r"-?[0-9]{1,19}")
_NON_FINITE = ("NaN", "Infinity", "-Infinity")


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


Count = Annotated[int, Field(ge=0, le=2**31 - 1), BeforeValidator(integer)]
Version = Annotated[int, Field(ge=1, le=2**31 - 1), BeforeValidator(integer)]
