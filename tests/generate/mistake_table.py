"""The table of docs/json-onnx.md: mistakes in JSON ONNX, and the words a validator has for them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema

import neat_onnx

sys.path.append(str(Path(__file__).absolute().parents[1]))

from support.examples.model_mistakes import MISTAKES, with_mistake

_MOST = 90  # characters of a message


def mistakes() -> Iterator[list[str]]:
    """A row for each mistake: it, its place, and the first message of the Python validator."""
    validator = jsonschema.Draft202012Validator(neat_onnx.json_schema("model"))
    for name, mistake in MISTAKES.items():
        error = next(validator.iter_errors(with_mistake(mistake)))
        text = error.message if len(error.message) <= _MOST else error.message[:_MOST] + " …"
        yield [name, f"`{mistake.where or '(the document)'}`", f"`{text}`"]
