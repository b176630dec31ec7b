"""How JSON is laid out: structure indented, each list of numbers and each small object on a line.

The numbers go through the C encoder, list by list: the standard library's `indent` would take the
one written in Python, and give each number a line.
"""

import json
from typing import Any

import numpy as np

_WIDTH = 100  # what fits is put on one line
_SPACED, _DENSE = (
    json.JSONEncoder(separators=separators, allow_nan=False, default=np.ndarray.tolist).encode
    for separators in (None, (",", ":"))
)


def json_text(value: Any, indent: bool = True) -> str:
    """`value`, which may hold arrays, each on one line, as JSON text in ASCII."""
    if not indent:
        return _DENSE(value)
    parts: list[str] = []
    _write(value, "\n", _WIDTH, parts)
    return "".join(parts)


def _write(value: Any, newline: str, room: int, parts: list[str]) -> None:
    """Appends the text of `value`.

    `newline` starts a line at the indent of its parent, `room` is the rest of its own first line.
    """
    if _is_flat(value, room):
        parts.append(_SPACED(value))
        return
    inner = newline + " "
    if isinstance(value, dict):
        entries, brackets = value.items(), "{}"
    else:
        entries, brackets = (("", entry) for entry in value), "[]"  # type: ignore[assignment]
    before = brackets[0]
    for key, entry in entries:
        label = f"{json.dumps(key)}: " if key else ""
        parts += (before, inner, label)
        _write(entry, inner, _WIDTH - len(inner) - len(label), parts)
        before = ","
    parts += (newline, brackets[1])


def _is_flat(value: Any, room: int) -> bool:
    """Whether `value` goes on one line: a scalar, a list of scalars, or a value that fits in
    `room`.
    """
    if not isinstance(value, dict | list | tuple) or not value:
        return True
    if not isinstance(value, dict) and not isinstance(value[0], dict | list | tuple):
        return True  # lists in a model are of one kind: no need to look at a million numbers
    return _size(value, room) >= 0


def _size(value: Any, room: int) -> int:
    """The rest of `room` after the text of `value`; negative as soon as it is used up."""
    if isinstance(value, dict):
        for key, entry in value.items():
            room = _size(entry, room - len(key) - 6)
            if room < 0:
                break
        return room
    if isinstance(value, np.ndarray):
        if 3 * value.size > room:
            return -1
        value = value.tolist()
    if isinstance(value, list | tuple):
        for entry in value:
            room = _size(entry, room - 2)
            if room < 0:
                break
        return room
    return room - len(str(value)) - 2 * isinstance(value, str)
