"""Sources → .pyc, by the very Python that will load them: Pyodide, run under Node."""

import contextlib
import json
import subprocess
from pathlib import Path

from pack import cache

_SCRIPT = Path(__file__).with_name("compile.mjs")
_INSIDE = Path(__file__).with_name("compile_inside.py")


def compiled(paths: list[Path], pyodide: Path) -> list[Path]:
    """The same wheels and zips with .pyc in place of .py; what is in the cache is not redone."""
    same = [_SCRIPT, _INSIDE, pyodide / "package.json"]
    targets = [
        cache.slot(cache.digest(["compile", *same, path]), _file_name(path)) for path in paths
    ]
    todo = [pair for pair in zip(paths, targets, strict=True) if not pair[1].exists()]
    if todo:
        print("  compiling", ", ".join(path.name.split("-")[0] for path, _ in todo), flush=True)
        with contextlib.ExitStack() as stack:
            pairs = [
                [str(path), str(stack.enter_context(cache.staging(target)))]
                for path, target in todo
            ]
            command = ["node", str(_SCRIPT), str(pyodide / "pyodide.mjs"), str(_INSIDE)]
            if subprocess.run([*command, json.dumps(pairs)], check=False).returncode:
                raise SystemExit("compiling in Pyodide failed")
    return targets


def _file_name(path: Path) -> str:
    """A wheel of .pyc files is for one Python: `py3-none-any` becomes `cp314-none-any`."""
    return path.name.replace("-py3-none-any.whl", "-cp314-none-any.whl")
