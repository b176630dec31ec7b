"""Errors and warnings for people who have a page before them, and no Python."""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from warnings import WarningMessage

from neat_onnx.errors import Hint, ImportAdvice, ImportArguments, NeatOnnxError, NeatOnnxWarning

# A clause that only helps who writes Python: it names a call, a class, a module or an argument.
_PYTHON = re.compile(
    r"neat_onnx\.|`neat-onnx |\b(?:load_network|import_model)\b"
    r"|neat\.nn|\bregister_|\w+\([^)]*\)|=(None|True|False)\b|\ba dict\b|ModelProto"
    r"|\bsubclass\b|pip install|--\w|docs/[\w-]+\.md"
)


def failure(kind: str, error: NeatOnnxError) -> dict[str, Any]:
    """Return an error as the page shows it, with the options of an import that help."""
    options = (_options(each.arguments) for each in error.hints if isinstance(each, ImportAdvice))
    return {
        "kind": kind,
        "message": error.message,
        "where": error.where,
        "hint": for_visitors(error.hints),
        "import": next(filter(None, options), {}),
        "obstacles": [_obstacle_for_visitors(each) for each in error.first_obstacles],
    }


def remarks(caught: Iterable[WarningMessage]) -> list[str]:
    """Return the text of each NeatOnnxWarning once, as the page shows it."""
    found = (each.message for each in caught if isinstance(each.message, NeatOnnxWarning))
    texts = (each.said(filter(None, [for_visitors(each.hints)])) for each in found)
    return list(dict.fromkeys(texts))


def for_visitors(hints: Iterable[Hint]) -> str | None:
    """Return hints without the clauses that are about Python, in the words of the page's form."""
    return ". ".join(filter(None, map(_for_visitors, hints))) or None


def _for_visitors(hint: Hint) -> str:
    """The text of a hint; empty if it helps only who writes Python."""
    if isinstance(hint, ImportAdvice):
        words = [*_words(hint.arguments)]
        return hint.said(words) if words else ""
    sentences = (
        "; ".join(clause for clause in sentence.split("; ") if not _PYTHON.search(clause))
        for sentence in hint.split(". ")
    )
    return ". ".join(filter(None, sentences))


def _words(arguments: ImportArguments) -> Iterator[str]:
    """Arguments as the form of an import calls them, which has no other."""
    if "batch_axis" in arguments:
        yield "“No batch”"
    if "memory" in arguments:
        yield ", ".join(f"{name}: {output}" for name, output in arguments["memory"].items())
    if "outputs" in arguments:
        yield ", ".join(arguments["outputs"])
    if "shapes" in arguments:
        shapes = arguments["shapes"].items()
        yield ", ".join(f"{name}: {' × '.join(map(str, sizes))}" for name, sizes in shapes)


def _options(arguments: ImportArguments) -> dict[str, Any]:
    """Arguments as `reading.imported` takes them from the page."""
    found = {
        name: value for name, value in arguments.items() if name in ("memory", "outputs", "shapes")
    }
    return found | ({"batch_axis": "none"} if "batch_axis" in arguments else {})


def _obstacle_for_visitors(obstacle: str) -> str:
    """Return one of several reasons, and its hint without the clauses that are about Python."""
    reason, _, hint = obstacle.partition(". ")
    said = _for_visitors(hint)
    return f"{reason}. {said}" if said else reason
