"""What a browser never needs, left out of wheels and of the standard library."""

import re
from collections.abc import Iterator
from pathlib import Path

from pack import archive, cache

_WHEELS = {
    "onnx": r"backend/test/|test/|bin/|.*\.(h|cc|cpp|c|cu|proto|proto3|pyi|in|md|txt|onnx|pb)$"
    r"|fuzz/|tools/|frontend/",
    "numpy": r"(.*/)?tests/|random/_examples/|f2py/|distutils/|_pyinstaller/|_core/include/"
    r"|polynomial/|testing/|fft/|typing/mypy|ctypeslib|core/|conftest|matlib|doc/|_configtool"
    r"|.*npymath|.*\.(h|hpp|a|c|pxd|pyi|pyx|lib|ini)$",
    "pydantic": r"(mypy|color)\.py$|v1/|experimental/|.*\.pyi$",
    "annotated_types": r"test_cases\.py$",
    "pydantic_core": r".*\.pyi$",
    "google": r"protobuf/compiler/",
}
_INFO = r"[^/]+\.dist-info/(sboms/|licenses/.*\.md$)"

# Tools, servers, user interfaces, and tests; asyncio and codeop stay: Pyodide itself uses them.
_STANDARD = """
    _pyrepl unittest pydoc pydoc_data doctest xmlrpc wsgiref curses idlelib lib2to3 tkinter
    turtledemo ensurepip venv dbm sqlite3 imaplib poplib smtplib ftplib mailbox pdb bdb cmd profile
    cProfile pstats trace tracemalloc webbrowser antigravity this turtle distutils
    socketserver multiprocessing concurrent/futures/process
    statistics optparse getopt plistlib tabnanny pyclbr compileall zipapp rlcompleter
    py_compile symtable modulefinder filecmp fileinput sched shelve wave colorsys netrc tomllib html
    test _pyio _pydatetime http csv mimetypes timeit pty tty getpass logging/config
    logging/handlers
"""
_CODECS = """
    __init__ aliases utf_8 ascii latin_1 cp437 idna unicode_escape raw_unicode_escape utf_16 utf_32
    utf_8_sig charmap cp1252 punycode
"""
_LIBRARY = rf"({'|'.join(_STANDARD.split())})(\.py$|/)|encodings/(?!{'|'.join(_CODECS.split())})"


def wheel(path: Path) -> Path:
    """The wheel without its tests, headers and tools."""
    tops = "|".join(f"{name}/({rule})" for name, rule in _WHEELS.items())
    return _without(path, f"{tops}|{_INFO}")


def standard_library(path: Path) -> Path:
    """Pyodide's zip of the standard library without what only a desktop uses."""
    return _without(path, _LIBRARY)


def _without(path: Path, rule: str) -> Path:
    drop = re.compile(rule)

    def kept() -> Iterator[tuple[str, bytes]]:
        return ((name, data) for name, data in archive.members(path) if not drop.match(name))

    made_from: list[str | bytes | Path] = ["trim", rule, Path(archive.__file__), path]
    return cache.step(path.name, made_from, lambda target: archive.write(target, kept()))
