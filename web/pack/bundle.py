"""Wheels → what the page loads: per wheel tables of its modules, and its shared libraries.

Unpacking a wheel in the browser, hundreds of small files, takes as long as importing it, and each
import then asks the file system for several names. So the page gets all modules of a wheel in one
table, from which finder.py imports, and as files only what has to be one: shared libraries. Both
are gzipped, since many servers compress nothing. What else a wheel holds stays behind: the page
needs none of it.

A wheel has up to three tables: of the modules that are imported until the page is ready, of those
that come while a person chooses a file, and of those that the page fetches only if somebody asks
for one. web/imported.json, which e2e/imports.py records, says which is which.
"""

import base64
import gzip
import json
import marshal
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pack import archive, cache, compile, exports

_FINDER = Path(__file__).with_name("finder.py")
_HEADER = 16  # bytes of a .pyc before its code

Table = dict[str, tuple[bool, bytes]]  # module → whether it is a package, and its code
Packs = dict[str, list[tuple[str, bytes]]]  # the name of a file → its parts, by path
_VERSIONED = ("onnx",)  # packages whose version somebody asks importlib.metadata for

_IMPORTED: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[1] / "imported.json").read_text()
)
OURS = "neat_onnx"  # what is new in it comes with what is used: it changes from day to day
CPYTHON = "CPython"

# Shared libraries that come while nobody waits, and that come only when a function is called.
_LATER = re.compile(r"onnx[/.-]|numpy/(random|fft)/")
_SELDOM = re.compile(r"numpy/linalg/(lapack_lite|_umath_linalg)\.")


def write(
    target: Path, sources: dict[str, Path], tables: dict[str, Path]
) -> dict[str, list[dict[str, Any]]]:
    """Write all that the page needs of packages into a folder.

    Args:
        target: the folder.
        sources: wheels and zips by name, for their shared libraries.
        tables: of the same names; `standard_library` writes what is imported of it first.

    Returns:
        `files`: few, each of several `parts` one after the other: where it is, its size and hash,
        whether it is needed at first, and of each part the size and the path below site-packages
        that it is for (that of a table ends in .modules, and they stand in files of their own).
        `seldom`: files that are fetched when one of their `modules` is asked for.
    """
    target.mkdir(parents=True)
    files = {_FINDER.name: _FINDER.read_bytes()}
    for name in _VERSIONED:
        version = sources[name].name.split("-")[1]
        said = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        files[f"{name}-{version}.dist-info/METADATA"] = said.encode()
    libraries = {name: data for path in sources.values() for name, data in _libraries(path)}
    wanted = set().union(*map(exports.imported, libraries.values()))
    files |= {path: exports.stripped(data, wanted) for path, data in libraries.items()}
    seldom: list[dict[str, Any]] = []
    packs: Packs = defaultdict(list)
    for path, data in files.items():
        if _SELDOM.match(path):
            module = path.partition(".")[0].replace("/", ".")
            seldom.append({**_write(target, path, data), "modules": [module]})
        else:
            packs["later.files" if _LATER.match(path) else "first.files"].append((path, data))
    for name, compiled in tables.items():
        table = _table(compiled)
        if name == CPYTHON:
            table = {module: code for module, code in table.items() if _part(module)}
        _write_tables(target, name, table, packs, seldom)
    return {"files": [_write_pack(target, *each) for each in packs.items()], "seldom": seldom}


def _write_pack(target: Path, name: str, parts: list[tuple[str, bytes]]) -> dict[str, Any]:
    """Write many files as one: each is a request, which takes a while by itself."""
    return {
        **_write(target, name, b"".join(data for _, data in parts)),
        "first": name.startswith("first"),
        "parts": [{"path": path, "size": len(data)} for path, data in parts],
    }


def _write_tables(
    target: Path, wheel: str, table: Table, packs: Packs, seldom: list[dict[str, Any]]
) -> None:
    """Enter the tables of a wheel that are not empty, and write the seldom one."""
    for part, kind in enumerate(("", ".later", ".seldom")):
        modules = {
            name: (is_package, code)
            for name, (is_package, code) in table.items()
            if (_part(name) if code else 0) == part  # a namespace has no code, and no size
        }
        if not modules:
            continue
        path, data = f"{wheel}{kind}.modules", marshal.dumps(modules, 2)
        if kind == ".seldom":
            seldom.append({**_write(target, path, data), "modules": sorted(modules)})
        else:
            packs["later.modules" if kind else "first.modules"].append((path, data))


def _part(name: str) -> int:
    """When a module is imported: 0 until the page is ready, 1 later, 2 hardly ever."""
    if name in _IMPORTED["ready"]:
        return 0
    is_new = name.partition(".")[0] == OURS and name not in _IMPORTED["seldom"]
    return 1 if name in _IMPORTED["used"] or is_new else 2


def standard_library(target: Path, table: Path) -> Path:
    """Write a zip of the modules that are imported until the page is ready, gzipped as a whole."""
    found = marshal.loads(table.read_bytes())
    kept = [
        (name.replace(".", "/") + ("/__init__.pyc" if is_package else ".pyc"), code)
        for name, (is_package, code) in found.items()
        if not _part(name)
    ]
    plain = cache.step(
        "python_stdlib.zip",
        ["stored", json.dumps([path for path, _ in kept]), Path(archive.__file__), table],
        lambda path: archive.write(path, kept),
    )
    return gzipped(target, plain.read_bytes())


def _write(folder: Path, path: str, data: bytes) -> dict[str, Any]:
    file = gzipped(folder / f"{path.replace('/', '.')}.gz", data)
    return {**entry(folder.parent, file), "path": path}


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


def _libraries(source: Path) -> Iterator[tuple[str, bytes]]:
    for path, data in archive.members(source):
        if path.endswith(".so") and not re.match(compile.LEFT_OUT, path):
            yield path, data


def _table(path: Path) -> Table:
    """The modules of a package, and its namespaces, which have no code."""
    found = marshal.loads(path.read_bytes())
    table = {name: (is_package, code[_HEADER:]) for name, (is_package, code) in found.items()}
    for parent in sorted({name.rpartition(".")[0] for name in table} - {"", *table}):
        table[parent] = (True, b"")  # a namespace: a package without a file of its own
    return table
