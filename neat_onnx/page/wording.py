"""Errors for people who have a page before them, and no Python."""

import re
from typing import Any

from neat_onnx.errors import NeatOnnxError
from neat_onnx.hinted_arguments import import_options_in, reworded

# A clause that only helps who writes Python: it names a call, a class, a module or an argument.
_PYTHON = re.compile(
    r"neat_onnx\.|`neat-onnx |\b(?:load_network|import_model)\b"
    r"|neat\.nn|\bregister_|\w+\([^)]*\)|=(None|True|False)\b|\ba dict\b|ModelProto"
    r"|\bsubclass\b|pip install|--\w"
)
_SAID = {
    "dtype=float64": "the type float64",
    "time_step": "the time step",
    "advance_time": "the advance time",
}
_CHOSEN = {"batch_axis=None": "“No batch”"}  # as the form of an import calls it


def failure(kind: str, error: NeatOnnxError) -> dict[str, Any]:
    """Return an error as the page shows it, with the options of an import that help."""
    return {
        "kind": kind,
        "message": error.message,
        "where": error.where,
        "hint": for_visitors(error.hint),
        "import": import_options_in(error.hint or ""),
        "obstacles": [_obstacle_for_visitors(each) for each in error.first_obstacles],
    }


def for_visitors(hint: str | None) -> str | None:
    """Return `hint` without the clauses that are about Python, in the words of the page's form."""
    if hint is None:
        return None
    hint = reworded(hint, _CHOSEN, ", ".join, _shapes)
    said = ". ".join(filter(None, map(_without_python, hint.split(". "))))
    for name, words in _SAID.items():
        said = said.replace(name, words)
    return said or None


def _without_python(sentence: str) -> str:
    return "; ".join(clause for clause in sentence.split("; ") if not _PYTHON.search(clause))


def _shapes(shapes: dict[str, list[str]]) -> str:
    return ", ".join(f"{name}: {' × '.join(sizes)}" for name, sizes in shapes.items())


def _obstacle_for_visitors(obstacle: str) -> str:
    """Return one of several reasons, with the hint that follows it as `for_visitors` gives it."""
    reason, _, hint = obstacle.partition(". ")
    said = for_visitors(hint)
    return f"{reason}. {said}" if said else reason
