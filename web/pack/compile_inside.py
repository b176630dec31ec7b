"""Runs inside Pyodide: a zip or wheel of .py → the same of sourceless .pyc, without docstrings."""

import ast
import base64
import hashlib
import importlib.util
import io
import marshal
import re
import sys
import zipfile
from typing import Any

_EDITS_ITS_OWN = "numpy/"  # docstrings: numpy.ma makes its own of them, and fails without
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
        tree = ast.parse(data)
        tree = tree if name.startswith(_EDITS_ITS_OWN) else _undocumented(tree)
        code = compile(tree, name, "exec", dont_inherit=True)
    except SyntaxError:  # a template, or source for another Python: stays as it is
        return name, data
    return name + "c", importlib.util.MAGIC_NUMBER + bytes(8) + len(data).to_bytes(
        4, "little"
    ) + marshal.dumps(code)


def _undocumented(tree: ast.Module) -> ast.Module:
    """The same program without docstrings, a third of its size, which nobody reads in a page."""
    for node in ast.walk(tree):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ) and (ast.get_docstring(node, clean=False) is not None):
            node.body = node.body[1:]
            if not node.body and not isinstance(node, ast.Module):
                node.body = [ast.Pass(lineno=node.lineno, col_offset=node.col_offset)]
    return ast.fix_missing_locations(tree)


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data, compresslevel=9)
