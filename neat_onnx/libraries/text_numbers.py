"""Numbers in the text files of libraries."""

import math

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
