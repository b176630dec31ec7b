"""Runs inside Pyodide: a zip or wheel of .py → the same of sourceless .pyc.

Docstrings, assertions and line numbers, half of a module's size, stay behind: nobody reads them in
a page. So do the annotations of our own functions, each a function of its own since Python 3.14.
Those of classes are what Pydantic and dataclasses make fields of, and those of operators the schema
of their inputs and attributes.
"""

import ast
import base64
import hashlib
import importlib.util
import io
import marshal
import re
import sys
import zipfile
from collections.abc import Iterator
from types import CodeType
from typing import Any

_DOCUMENTS = re.compile(r"numpy/_core/_add_newdocs(_scalars)?\.py$")  # other modules, and no more
_OURS = re.compile(r"neat_onnx/")
# Of CPython's InternalDocs/code_objects.md: an entry without a location, and for how many units.
_NO_LINE, _MOST = 0b1_1111_000, 8
_MOMENT = (2020, 2, 2, 0, 0, 0)


def convert(source: Any) -> bytes:
    target = io.BytesIO()
    record = []
    info = ""
    with zipfile.ZipFile(io.BytesIO(source)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            if name.endswith(".dist-info/RECORD"):
                info = name
                continue
            path, data = _member(name, old.read(name))
            _add(new, path, data)
            code = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={code},{len(data)}\n")
        if info:
            _add(new, info, "".join([*record, f"{info},,\n"]).encode())
    return target.getvalue()


def _member(name: str, data: bytes) -> tuple[str, bytes]:
    if name.endswith(".dist-info/WHEEL"):
        tag = b"Tag: cp%d%d-none-any" % sys.version_info[:2]
        return name, re.sub(rb"(?m)^Tag: py3-none-any", tag, data)
    if not name.endswith(".py"):
        return name, data
    try:
        tree = ast.parse(b"" if _DOCUMENTS.match(name) else data)
        if _OURS.match(name):
            _unannotate(tree)
        code = compile(tree, name, "exec", dont_inherit=True, optimize=2)
    except SyntaxError:  # a template, or source for another Python: stays as it is
        return name, data
    return name + "c", importlib.util.MAGIC_NUMBER + bytes(8) + len(data).to_bytes(
        4, "little"
    ) + marshal.dumps(_unnumbered(code))


def _unannotate(tree: ast.Module) -> None:
    """Take what functions say of types out of a program."""
    for node in _statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
            if any(map(_is_operator, node.decorator_list)):
                continue
            for each in ast.walk(node.args):
                if isinstance(each, ast.arg):
                    each.annotation = None


def _is_operator(decorator: ast.expr) -> bool:
    """Whether it is `@operator(…)`, which reads the schema of an operator from a signature."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Name) and called.id == "operator"


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """A statement and those inside it, without expressions: they are most of a tree."""
    yield node
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        for each in getattr(node, part, ()):
            yield from _statements(each)


def _unnumbered(code: CodeType) -> CodeType:
    """The same code with a table of lines that says of every instruction: none."""
    constants = tuple(
        _unnumbered(each) if isinstance(each, CodeType) else each for each in code.co_consts
    )
    whole, rest = divmod(len(code.co_code) // 2, _MOST)
    table = bytes([_NO_LINE | _MOST - 1]) * whole + bytes([_NO_LINE | rest - 1] if rest else [])
    return code.replace(co_linetable=table, co_consts=constants)


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)  # stored: what the page loads is packed anew
