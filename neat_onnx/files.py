"""Files in and out: strict JSON, and whole-or-nothing writing."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from neat_onnx.errors import DocumentError

_MAX_BYTES = 1 << 30
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"\x80", "pickle"),
    (b"\x08", "onnx"),  # the tag of ir_version, the first field of a binary model
)
_NAMES = {"png": "a PNG image", "jpeg": "a JPEG image", "gif": "a GIF image", "pdf": "a PDF"}

Kind = Literal["json", "text", "pickle", "gzip", "onnx", "zip", "binary"]


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of the file at `path`.

    Raises:
        DocumentError: it is not there, not a file, not readable, or larger than 1 GiB.
    """
    try:
        if os.path.getsize(path) > _MAX_BYTES:
            raise DocumentError("the file is larger than 1 GiB", where=str(path))
        return Path(path).read_bytes()
    except ValueError as error:  # a NUL byte in the path
        raise DocumentError(f"cannot read the file: {error}", where=str(path)) from error
    except OSError as error:
        raise DocumentError(
            f"cannot read the file: {error.strerror or error}", where=str(path)
        ) from error


def limited(stream: BinaryIO, where: str) -> bytes:
    """Return all bytes of an open stream.

    Args:
        stream: where to read.
        where: what the error calls it.

    Raises:
        DocumentError: there are more than 1 GiB of them.
    """
    data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise DocumentError("the file is larger than 1 GiB", where=where)
    return data


def sniff(data: bytes) -> Kind:
    """Return the kind of a file, by its first bytes; "binary" if nobody knows it.

    Raises:
        DocumentError: it is an image or a PDF, which nothing here reads.
    """
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            if kind in _NAMES:
                raise DocumentError(f"this is {_NAMES[kind]}, not a network or a model")
            return cast(Kind, kind)
    if data.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")[:1] in (b"{", b"["):
        return "json"
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "binary"
    return "text"


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to `path`, whole or not at all: to a temporary name first, then renamed.

    Raises:
        DocumentError: the file cannot be written; nothing is left behind.
    """
    target = Path(path)
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise DocumentError(
            f"cannot write the file: {error.strerror or error}", where=str(path)
        ) from error


def parse_json(data: bytes | str) -> Any:
    """The value of one JSON document (UTF-8, a byte order mark allowed).

    `NaN` and `Infinity` are read, because neat-python writes them: whoever takes a number from the
    result says where it may not be one. A key that occurs twice in one object is refused.

    Raises:
        DocumentError: with the line and column, where there are any.
    """
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data.removeprefix("\ufeff")
        return json.loads(text, object_pairs_hook=_unique_keys)
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"not text in UTF-8: byte {error.start} cannot be decoded",
            hint="JSON files are UTF-8 text; is this a binary file?",
        ) from error
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"invalid JSON: {error.msg}", where=f"line {error.lineno}, column {error.colno}"
        ) from error
    except RecursionError as error:
        raise DocumentError("invalid JSON: it is nested too deeply") from error
    except ValueError as error:  # an integer of thousands of digits
        raise DocumentError("invalid JSON: a number has too many digits") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DocumentError(f"invalid JSON: the key '{key}' occurs twice in one object")
            seen.add(key)
    return found


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
