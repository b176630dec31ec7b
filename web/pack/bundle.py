"""Wheels → what the page loads: per wheel a table of its modules, and its shared libraries.

Unpacking a wheel in the browser, hundreds of small files, takes as long as importing it, and each
import then asks the file system for several names. So the page gets all modules of a wheel in one
table, from which finder.py imports, and as files only what has to be one: shared libraries. Both
are gzipped, since many servers compress nothing. What else a wheel holds stays behind: the page
needs none of it.
"""

import base64
import gzip
import marshal
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pack import archive, cache, exports

_FINDER = Path(__file__).with_name("finder.py")
_HEADER = 16  # bytes of a .pyc before its code
_PORTABLE = 2  # the marshal version without back-references: the same bytes whatever is in memory

_VERSIONED = ("onnx",)  # packages whose version somebody asks importlib.metadata for

# What the page does without until it is ready; it comes while nobody waits.
_LATER = re.compile(
    r"(onnx|protobuf|ml_dtypes)[/.-]|numpy/(random|fft)/|numpy/linalg/lapack_lite\."
)


def write(target: Path, wheels: list[Path]) -> list[dict[str, Any]]:
    """Write all that the page needs of some compiled wheels into a folder.

    Returns:
        The files: where each is, its size and hash, the path below site-packages that it is for
        (that of a table ends in .modules), and whether it is needed at first.
    """
    target.mkdir(parents=True)
    files = {_FINDER.name: _FINDER.read_bytes()}
    for wheel in wheels:
        name, version, *_ = wheel.name.split("-")
        if name in _VERSIONED:
            said = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            files[f"{name}-{version}.dist-info/METADATA"] = said.encode()
    for wheel in wheels:
        files |= _files(wheel)
    libraries = {path: data for path, data in files.items() if path.endswith(".so")}
    wanted = set().union(*map(exports.imported, libraries.values()))
    files |= {path: exports.stripped(data, wanted) for path, data in libraries.items()}
    return [_write(target, path, data) for path, data in files.items()]


def _write(folder: Path, path: str, data: bytes) -> dict[str, Any]:
    file = gzipped(folder / f"{path.replace('/', '.')}.gz", data)
    return {**entry(folder.parent, file), "path": path, "first": not _LATER.match(path)}


def gzipped(file: Path, data: bytes) -> Path:
    """Write some bytes compressed; the same bytes always give the same file."""
    packed = cache.step("packed.gz", ["gzip", data], partial(_gzip, data))
    file.write_bytes(packed.read_bytes())
    return file


def entry(site: Path, file: Path) -> dict[str, Any]:
    """What the lock says of each file: where it is in the site, its size and its hash."""
    sha256 = bytes.fromhex(cache.sha256(file))
    return {
        "file": str(file.relative_to(site)),
        "size": file.stat().st_size,
        "integrity": f"sha256-{base64.b64encode(sha256).decode()}",
    }


def _gzip(data: bytes, target: Path) -> None:
    target.write_bytes(gzip.compress(data, mtime=0))


def _files(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """The shared libraries of a wheel, and its table."""
    table: dict[str, tuple[bool, bytes]] = {}
    for path, data in archive.members(wheel):
        if path.endswith(".so"):
            yield path, data
        elif path.endswith(".pyc"):
            name = path.removesuffix(".pyc").removesuffix("/__init__").replace("/", ".")
            table[name] = (path.endswith("/__init__.pyc"), data[_HEADER:])
    for parent in sorted({name.rpartition(".")[0] for name in table} - {"", *table}):
        table[parent] = (True, b"")  # a namespace: a package without a file of its own
    yield f"{wheel.name.split('-')[0]}.modules", marshal.dumps(table, _PORTABLE)
