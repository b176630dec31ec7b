"""Numbers as JSON gives them: tests for integers and for finite floats.

Protobuf's JSON writes int64 as decimal strings, so those are integers too. A bool is no number.
Errors are ValueErrors whose text goes on from the name of the field: "is null".
"""

import math
import re
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, WithJsonSchema

_DECIMAL = re.compile(r"-?[0-9]{1,19}")
_NON_FINITE = ("NaN", "Infinity", "-Infinity")
_INFINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "inf": math.inf, "-inf": -math.inf}


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


def finite_or_infinite(value: Any) -> float:
    """`value` as a float that is a number: JSON writes the infinities as text.

    Raises:
        ValueError: it is none.
    """
    infinite = isinstance(value, str | float) and str(value) in _INFINITE
    return _INFINITE[str(value)] if infinite else finite(value)


def finite_or_text(value: Any) -> float:
    """`value` as a float; NaN and the infinities are texts, as JSON has no numbers for them.

    Raises:
        ValueError: it is none.
    """
    return math.nan if value == "NaN" else finite_or_infinite(value)


def any_float(value: Any) -> float:
    """`value` as a float, or NaN or an infinity, which JSON writes as text.

    Raises:
        ValueError: it is none.
    """
    return math.nan if str(value) in ("NaN", "nan") else finite_or_infinite(value)


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
    real = finite_or_text if infinite else finite
    number, plain = (real, {float, int}) if memory is np.float64 else (integer, {int})
    if not set(map(type, content)) <= plain:
        return np.array(_each(content, field, number), _of_numbers(memory)).astype(memory)
    try:
        found = np.array(content, _of_numbers(memory)).astype(memory, copy=False)
    except OverflowError:
        return np.array(_each(content, field, number))
    if found.dtype == np.float64:
        check_finite(found, field, infinite=infinite)
    return found


def _of_numbers(memory: type[np.generic]) -> type[np.generic]:
    return np.int64 if memory is np.bool_ else memory


def _each(content: list[Any], field: str, number: Callable[[Any], float]) -> list[float]:
    """`number` of each entry: the slow way, for decimal strings and to say which is wrong."""
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
