"""Runs inside Pyodide: the modules of a zip or wheel → a table of compiled ones.

Docstrings, assertions and line numbers, half of a module's size, stay behind: nobody reads them in
a page.
"""

import importlib.util
import io
import marshal
import re
import zipfile
from types import CodeType
from typing import Any

_DOCUMENTS = re.compile(r"numpy/_core/_add_newdocs(_scalars)?\.py$")  # other modules, and no more
# Of CPython's InternalDocs/code_objects.md: an entry without a location, and for how many units.
_NO_LINE, _MOST = 0b1_1111_000, 8
_PORTABLE = 2  # the marshal version without back-references: the same bytes whatever is in memory


def convert(source: Any, left_out: str) -> bytes:
    """Return a table, marshalled: module → whether it is a package, and the bytes of its .pyc."""
    table = {}
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        for path in archive.namelist():
            if not path.endswith(".py") or re.match(left_out, path):
                continue
            code = _compiled(path, archive.read(path))
            if code is not None:
                name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                table[name] = (path.endswith("/__init__.py"), code)
    return marshal.dumps(table, _PORTABLE)


def _compiled(path: str, data: bytes) -> bytes | None:
    source = b"" if _DOCUMENTS.match(path) else data
    try:
        code = compile(source, path, "exec", dont_inherit=True, optimize=2)
    except SyntaxError:  # a template, or source for another Python
        return None
    head = importlib.util.MAGIC_NUMBER + bytes(8) + len(data).to_bytes(4, "little")
    return head + marshal.dumps(_unnumbered(code))


def _unnumbered(code: CodeType) -> CodeType:
    """The same code with a table of lines that says of every instruction: none."""
    constants = tuple(
        _unnumbered(each) if isinstance(each, CodeType) else each for each in code.co_consts
    )
    whole, rest = divmod(len(code.co_code) // 2, _MOST)
    table = bytes([_NO_LINE | _MOST - 1]) * whole + bytes([_NO_LINE | rest - 1] if rest else [])
    return code.replace(co_linetable=table, co_consts=constants)
