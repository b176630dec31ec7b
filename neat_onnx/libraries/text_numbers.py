"""Numbers that files of libraries spell as text."""

import math
from collections.abc import Mapping
from typing import Any

from neat_onnx.errors import NetworkError


def finite_number(text: str, name: str, where: str) -> float:
    """Return the finite number that a text spells.

    Args:
        text: its spelling in the file.
        name: the name of the number in the file, for the message.
        where: its place in the file.

    Raises:
        NetworkError: the text is no number, or that number is infinite or NaN.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise NetworkError(f"{name} should be a finite number, got '{text[:40]}'", where=where)
    return value


def coerced(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of lists of objects with numbers in the place of texts that spell them.

    Old JavaScript libraries write keys of objects, which are texts, as `"from": "0"`.
    """

    def value(found: Any) -> Any:
        try:
            number = float(found) if isinstance(found, str) else math.nan
        except ValueError:
            return found
        if not math.isfinite(number):
            return found
        return int(number) if number.is_integer() else number

    def entry(found: Any) -> Any:
        if isinstance(found, Mapping) and any(isinstance(each, str) for each in found.values()):
            return {key: value(each) for key, each in found.items()}
        return found

    return {
        key: [entry(one) for one in found] if isinstance(found, list) else value(found)
        for key, found in document.items()
    }
