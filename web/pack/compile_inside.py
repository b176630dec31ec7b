"""Runs inside Pyodide: the modules of a zip or wheel → a table of compiled ones.

Docstrings, assertions and line numbers, half of a module's size, stay behind: nobody reads them in
a page. So do the annotations of our own functions, each a function of its own since Python 3.14.
Those of classes are what Pydantic and dataclasses make fields of, and those of operators the schema
of their inputs and attributes.
"""

import ast
import importlib.util
import io
import marshal
import re
import zipfile
from collections.abc import Iterator
from types import CodeType
from typing import Any

_DOCUMENTS = re.compile(r"numpy/_core/_add_newdocs(_scalars)?\.py$")  # other modules, and no more
_OURS = re.compile(r"neat_onnx/")
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
    try:
        tree = ast.parse(b"" if _DOCUMENTS.match(path) else data)
        if _OURS.match(path):
            _unannotate(tree)
        code = compile(tree, path, "exec", dont_inherit=True, optimize=2)
    except SyntaxError:  # a template, or source for another Python
        return None
    head = importlib.util.MAGIC_NUMBER + bytes(8) + len(data).to_bytes(4, "little")
    return head + marshal.dumps(_unnumbered(code))


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
