"""docs/tutorial.ipynb: the tutorial as a notebook, with what its cells print.

python tests/generate/notebook.py
"""

import contextlib
import io
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).absolute().parents[2] / "docs"
TUTORIAL, NOTEBOOK = DOCS / "tutorial.md", DOCS / "tutorial.ipynb"
_BLOCK = re.compile(r"^```(python|ini)\n(.*?)^```$\n?", re.DOTALL | re.MULTILINE)
_INI = '''\
from pathlib import Path

settings = """\\
{}"""
_ = Path("xor.ini").write_text(settings)
'''


def cells() -> Iterator[tuple[str, str]]:
    """The cells: ("markdown" or "code", text). Settings become a cell that writes their file."""
    kinds = _BLOCK.split(TUTORIAL.read_text(encoding="utf-8"))
    yield "markdown", kinds[0]
    for language, code, text in zip(kinds[1::3], kinds[2::3], kinds[3::3], strict=True):
        yield "code", _INI.format(code) if language == "ini" else code
        if text.strip():
            yield "markdown", text


def printed(folder: Path) -> list[str]:
    """What each cell of code prints, run one after the other in an empty folder."""
    found, names = [], {"__name__": "tutorial"}
    with contextlib.chdir(folder):
        for number, (kind, text) in enumerate(cells()):
            if kind == "code":
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    exec(compile(text, f"cell {number}", "exec"), names)
                found.append(said.getvalue())
    return found


def notebook(outputs: list[str]) -> dict[str, Any]:
    """The notebook's document (nbformat 4.5)."""
    waiting, found = iter(outputs), []
    for number, (kind, text) in enumerate(cells()):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
        cell["source"] = text.strip("\n").splitlines(keepends=True)
        if kind == "code":
            said = next(waiting).splitlines(keepends=True)
            stream = {"output_type": "stream", "name": "stdout", "text": said}
            cell |= {"execution_count": None, "outputs": [stream] if said else []}
        found.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": found, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        document = notebook(printed(Path(folder)))
    NOTEBOOK.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
