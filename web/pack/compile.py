"""Sources → tables of compiled modules, by the very Python that will load them, under Node."""

import contextlib
import json
import subprocess
from pathlib import Path

from pack import cache

_SCRIPT = Path(__file__).with_name("compile.mjs")
_INSIDE = Path(__file__).with_name("compile_inside.py")
# What a browser never needs: tests, tools, servers and user interfaces.
LEFT_OUT = (
    r"onnx/(backend/test|test|bin|fuzz|tools|frontend)/"
    r"|numpy/((.*/)?tests|random/_examples|f2py|distutils|_pyinstaller|polynomial|testing|fft)/"
    r"|numpy/(conftest|ctypeslib|core/|doc/|matlib|typing/mypy)"
    r"|pydantic/(v1/|experimental/|mypy\.py|color\.py)|google/protobuf/compiler/"
    r"|(_pyrepl|ensurepip|idlelib|lib2to3|multiprocessing|pydoc_data|sqlite3|test|tkinter)/"
    r"|(dbm|html|http|turtledemo|unittest|venv|wsgiref|xmlrpc)/|(_pydatetime|_pyio|bdb|doctest)\.py"
    r"|(ftplib|imaplib|mailbox|optparse|pdb|plistlib|poplib|pstats|pydoc|smtplib|turtle)\.py"
    r"|encodings/(?!(__init__|aliases|ascii|charmap|cp1252|cp437|idna|latin_1|punycode"
    r"|raw_unicode_escape|unicode_escape|utf_(8|8_sig|16|32))\.)"
)


def tables(paths: list[Path], pyodide: Path) -> list[Path]:
    """The table of the modules of each zip or wheel; what is in the cache is not made again."""
    same: list[str | Path] = [LEFT_OUT, _SCRIPT, _INSIDE, pyodide / "package.json"]
    targets = [cache.slot(cache.digest(["compile", *same, path]), "table") for path in paths]
    todo = [pair for pair in zip(paths, targets, strict=True) if not pair[1].exists()]
    if todo:
        print("  compiling", ", ".join(path.name.split("-")[0] for path, _ in todo), flush=True)
        with contextlib.ExitStack() as stack:
            pairs = [
                [str(path), str(stack.enter_context(cache.staging(target)))]
                for path, target in todo
            ]
            command = ["node", str(_SCRIPT), str(pyodide / "pyodide.mjs"), str(_INSIDE)]
            if subprocess.run([*command, LEFT_OUT, json.dumps(pairs)], check=False).returncode:
                raise SystemExit("compiling in Pyodide failed")
    return targets
