"""Shared libraries without the C++ names that they export and nobody looks up.

onnx's exports 14,600 names, nine of ten by default and for nobody. Pyodide's loader gives each a
global and a place in the table of functions, and walks through all of them once more for every
library that is loaded later: half of the time that importing onnx takes, and a fifth of its size.

The format: https://webassembly.github.io/spec/core/binary/modules.html
"""

from collections.abc import Iterator
from typing import NamedTuple

_START = 8  # bytes of magic and version
_IMPORTS, _EXPORTS = 2, 7  # kinds of section
_FUNCTION, _TABLE, _MEMORY, _GLOBAL, _TAG = range(5)  # kinds of import
_MANGLED = b"_Z"  # how a C++ name begins; Python looks up only PyInit_…, the loader only __…


class _Section(NamedTuple):
    kind: int
    content: bytes


def imported(library: bytes) -> set[bytes]:
    """The names that a library imports, its own among them."""
    return {
        name
        for kind, content in _sections(library)
        if kind == _IMPORTS
        for name in _import_names(content)
    }


def stripped(library: bytes, wanted: set[bytes]) -> bytes:
    """The library without those C++ names among its exports that are not wanted."""
    sections = (
        _Section(kind, _kept(content, wanted) if kind == _EXPORTS else content)
        for kind, content in _sections(library)
    )
    return library[:_START] + b"".join(
        bytes([kind]) + _unsigned(len(content)) + content for kind, content in sections
    )


def _sections(library: bytes) -> Iterator[_Section]:
    place = _START
    while place < len(library):
        size, start = _read_unsigned(library, place + 1)
        yield _Section(library[place], library[start : start + size])
        place = start + size


def _kept(content: bytes, wanted: set[bytes]) -> bytes:
    entries = [
        entry
        for name, entry in _exports(content)
        if name in wanted or not name.startswith(_MANGLED)
    ]
    return _unsigned(len(entries)) + b"".join(entries)


def _exports(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Each export's name, and all that the section says of it."""
    count, place = _read_unsigned(content, 0)
    for _ in range(count):
        name, end = _read_name(content, place)
        _, end = _read_unsigned(content, end + 1)  # after the byte that says of which kind it is
        yield name, content[place:end]
        place = end


def _import_names(content: bytes) -> Iterator[bytes]:
    count, place = _read_unsigned(content, 0)
    for _ in range(count):
        _, place = _read_name(content, place)  # of the module that it comes from
        name, place = _read_name(content, place)
        yield name
        place = _after_type(content, place)


def _after_type(content: bytes, place: int) -> int:
    """Where the description of an import that starts at `place` ends."""
    kind, place = content[place], place + 1
    if kind == _GLOBAL:
        return place + 2
    if kind in (_TABLE, _TAG):
        place += 1
    if kind in (_FUNCTION, _TAG):
        return _read_unsigned(content, place)[1]
    has_most, place = content[place] & 1, place + 1  # the limits of a table or a memory
    for _ in range(1 + has_most):
        _, place = _read_unsigned(content, place)
    return place


def _read_name(data: bytes, place: int) -> tuple[bytes, int]:
    size, start = _read_unsigned(data, place)
    return data[start : start + size], start + size


def _read_unsigned(data: bytes, place: int) -> tuple[int, int]:
    """A number in LEB128, and where it ends."""
    value = shift = 0
    while True:
        byte, place = data[place], place + 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7


def _unsigned(value: int) -> bytes:
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])
