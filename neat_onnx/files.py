"""Files in and out: strict JSON, and whole-or-nothing writing."""

import codecs
import importlib
import io
import json
import os
import re
import secrets
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Literal, cast

from neat_onnx.errors import DocumentError

_MAX_BYTES = 1 << 30
_CHUNK = 1 << 20
_MAX_UNPACKED = 2 << 20
_PACKED: dict[str, tuple[str, str, dict[str, int]]] = {
    "gzip": ("zlib", "decompressobj", {"wbits": 31}),
    "zlib": ("zlib", "decompressobj", {}),
    "bzip2": ("bz2", "BZ2Decompressor", {}),
    "xz": ("lzma", "LZMADecompressor", {"memlimit": 80 << 20}),
}
"""The module, the class and its options that unpack each kind of file."""
_MAX_CONTAINERS, _MAX_VALUES = 1 << 25, 1 << 26  # of JSON: objects and lists, values
_MAX_SMALL_CONTAINERS, _BYTES_OF_CONTAINER = 1 << 21, 16
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    *((b"x" + level, "zlib") for level in (b"\x01", b"\x9c", b"\xda")),
    (b"\x80", "pickle"),
    (b"\x08", "onnx"),  # the tag of ir_version, the first field of a binary model
)
_NAMES = {"png": "a PNG image", "jpeg": "a JPEG image", "gif": "a GIF image", "pdf": "a PDF"}

_SECTION = re.compile(rb"\[{1,2}[A-Za-z_][\w.-]*\]{1,2}[ \t]*(\r?\n|$)(?!\Z)")  # of INI or TOML
_MODEL_TEXT = re.compile(
    rb"""(?:\s|\#[^\n]*\n)*
    (?: <?\s* (?:ir_version|opset_import|producer_name|producer_version|domain|model_version
                 |doc_string|metadata_props) \s* (?: \{ | :\s*[\["'\d{] )
      | graph\s*\{ )""",
    re.VERBOSE,
)
"""The beginning of a textproto or an onnxtxt: fields of a ModelProto."""

Kind = Literal[
    "json", "text", "pickle", "gzip", "bzip2", "xz", "zlib", "onnx", "onnx text", "zip", "binary"
]


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of the file at `path`, or of the pipe, which is read once and to its end.

    Raises:
        DocumentError: it is not there, a device or a directory, not readable, or larger than 1 GiB.
    """
    where = os.fspath(path)
    with _reported("read", where):
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise DocumentError(f"cannot read {_kind_of(mode)}: not a file", where=where)
        with open(path, "rb") as file:
            return limited(file, where)


def limited(stream: BinaryIO, where: str) -> bytes:
    """Return all bytes of an open stream.

    Args:
        stream: where to read.
        where: name of the document in the error.

    Raises:
        DocumentError: there are more than 1 GiB of them.
    """
    data = io.BytesIO()
    while chunk := stream.read(_CHUNK):  # `read` takes as much memory as it may return
        data.write(chunk)
        if data.tell() > _MAX_BYTES:
            raise DocumentError("the file is larger than 1 GiB", where=where)
    return data.getvalue()


def sniff(data: bytes) -> Kind:
    """Return the kind of a file, by its first bytes; "binary" if nobody knows it.

    A model is "onnx" as protobuf, and "onnx text" in both of onnx's text forms.

    Raises:
        DocumentError: it is an image or a PDF, which nothing here reads.
    """
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            if kind in _NAMES:
                raise DocumentError(f"this is {_NAMES[kind]}, not a network or a model")
            return cast(Kind, kind)
    begin = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    if _MODEL_TEXT.match(begin):
        return "onnx text"
    if begin[:1] in (b"{", b"[") and not _SECTION.match(begin):
        return "json"
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "binary"
    return "text"


def unpacked(data: bytes) -> bytes:
    """Return the content of a file that gzip, bzip2, xz or zlib compressed; any other as it is.

    Raises:
        DocumentError: it is cut off, or holds more than 2 MiB and 20 times its size.
    """
    kind, limit, parts = sniff(data), _MAX_UNPACKED + 20 * len(data), list[bytes]()
    if kind not in _PACKED:
        return data
    module, make, options = _PACKED[kind]
    try:
        codec = importlib.import_module(module)
        while sniff(data) == kind:  # a file may hold several streams
            stream = getattr(codec, make)(**options)
            parts.append(stream.decompress(data, limit + 1))
            limit, data = limit - len(parts[-1]), stream.unused_data
            if limit < 0:
                hint = "If you trust it, unpack it first, and give what was in it"
                raise DocumentError(f"the {kind} file holds more than 20 times its size", hint=hint)
            if not stream.eof:
                raise EOFError("it ends too early")
    except DocumentError:
        raise
    except Exception as error:
        hint = "Was it cut off? Write or copy it again"
        raise DocumentError(f"not a whole {kind} file: {error}", hint=hint) from error
    if not any(parts):
        raise DocumentError(f"a {kind} file that holds nothing", hint="Write the network again")
    return b"".join(parts)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to `path`, whole or not at all: to a temporary name first, then renamed.

    A symbolic link is written through, and a file that was there keeps its mode.

    Raises:
        DocumentError: the file cannot be written, or is not a regular one; nothing is left behind.
    """
    where = os.fspath(path)
    with _reported("write", where):
        target = os.path.realpath(path)
        mode = os.stat(target).st_mode if os.path.exists(target) else None
        if mode is not None and not stat.S_ISREG(mode):
            raise DocumentError(f"cannot write to {_kind_of(mode)}: not a file", where=where)
        _replace(target, data, mode)


@contextmanager
def _reported(verb: str, where: str) -> Iterator[None]:
    """Turn errors of the operating system into DocumentErrors."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        why = getattr(error, "strerror", None) or error
        raise DocumentError(f"cannot {verb} the file: {why}", where=where) from error


def _replace(target: str, data: bytes, mode: int | None) -> None:
    """Write a temporary file beside `target` and rename it; remove it whatever goes wrong."""
    temporary = os.path.join(os.path.dirname(target), f".neat_onnx-{secrets.token_hex(8)}")
    file = open(temporary, "xb")  # noqa: SIM115 - what is opened is removed again
    try:
        with file:
            file.write(data)
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:  # an interrupt too: nothing half-written stays, and it goes on
        os.unlink(temporary)
        raise


def _kind_of(mode: int) -> str:
    """The kind of a file that is not a regular one."""
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def parse_json(data: bytes | str) -> Any:
    """The value of one JSON document (UTF-8, a byte order mark allowed).

    `NaN` and `Infinity` are read, because neat-python writes them: whoever takes a number from the
    result says where it may not be one. A key that occurs twice in one object is refused.

    Raises:
        DocumentError: with the line and column, where there are any; or it would make too much.
    """
    _check_amount(data)
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data.removeprefix("\ufeff")
        return json.loads(text, object_pairs_hook=_unique_keys)
    except UnicodeDecodeError as error:
        if isinstance(data, bytes) and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DocumentError("this is text in UTF-16", hint="Save it as UTF-8") from error
        raise DocumentError(
            f"not text in UTF-8: byte {error.start} cannot be decoded",
            hint="JSON files are UTF-8 text; is this a binary file?",
        ) from error
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            hint = "Was it cut off? Write or copy it again"
            raise DocumentError("invalid JSON: it ends too early", hint=hint) from error
        raise DocumentError(
            f"invalid JSON: {error.msg}", where=f"line {error.lineno}, column {error.colno}"
        ) from error
    except RecursionError as error:
        raise DocumentError("invalid JSON: it is nested too deeply") from error
    except ValueError as error:  # an integer of thousands of digits
        raise DocumentError("invalid JSON: a number has too many digits") from error


def _check_amount(data: bytes | str) -> None:
    """Refuse text of which JSON makes many times as many bytes: of `{}`, 3 bytes with a comma, 72.

    Networks of millions of connections pass, whose objects take at least 16 bytes each.
    """
    opening, comma = ("{[", ",") if isinstance(data, str) else ((b"{", b"["), b",")
    containers = sum(map(data.count, opening))  # type: ignore[arg-type]
    dense = containers > _MAX_SMALL_CONTAINERS and containers * _BYTES_OF_CONTAINER > len(data)
    many = len(data) > 2 * _MAX_VALUES and data.count(comma) > _MAX_VALUES  # type: ignore[arg-type]
    if dense or containers > _MAX_CONTAINERS or many:
        raise DocumentError(
            f"the JSON has {containers} objects and lists in {len(data)} bytes, more than are read"
        )


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise DocumentError(f"invalid JSON: the key '{key}' occurs twice in one object")
    return found
