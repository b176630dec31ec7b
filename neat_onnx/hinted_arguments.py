"""Arguments of `import_model` that hints name, for doors that have no Python.

A hint shows an argument as Python has it, as `shapes={'x': ('N', 16)}`. A value that is cut off, or
that has names with commas or quotes, is none here, and stays as it is.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

_NAME = r"'[^'\\,]*'"
_SIZE = rf"(?:\d+|{_NAME})"
_SIZES = rf"\({_SIZE}(?:, {_SIZE})*,?\)"
_OUTPUTS = re.compile(rf"\boutputs=\[({_NAME}(?:, {_NAME})*)\]")
_SHAPES = re.compile(rf"\bshapes=\{{({_NAME}: {_SIZES}(?:, {_NAME}: {_SIZES})*)\}}")
_SHAPE = re.compile(rf"({_NAME}): ({_SIZES})")
_NO_BATCH = "batch_axis=None"


def reworded(
    hint: str,
    plain: Mapping[str, str],
    outputs: Callable[[list[str]], str],
    shapes: Callable[[dict[str, list[str]]], str],
) -> str:
    """Return a hint in the words of a door.

    Args:
        hint: the hint.
        plain: the words for arguments with their values, as for `check=False`.
        outputs: gives the words for a choice of outputs.
        shapes: gives the words for the sizes of inputs, by their names.
    """
    for argument, words in plain.items():
        hint = hint.replace(argument, words)
    hint = _OUTPUTS.sub(lambda match: outputs(_names(match[1])), hint)
    return _SHAPES.sub(lambda match: shapes(_sizes(match[1])), hint)


def import_options_in(hint: str) -> dict[str, Any]:
    """Return the options of the first way out that a hint tells, in JSON's types; or none."""
    for sentence in hint.split(". "):
        found: dict[str, Any] = {"batch_axis": "none"} if _NO_BATCH in sentence else {}
        if match := _OUTPUTS.search(sentence):
            found["outputs"] = _names(match[1])
        if match := _SHAPES.search(sentence):
            found["shapes"] = {
                name: [int(size) if size.isdigit() else size for size in sizes]
                for name, sizes in _sizes(match[1]).items()
            }
        if found:
            return found
    return {}


def _names(listed: str) -> list[str]:
    return [name.strip("'") for name in listed.split(", ")]


def _sizes(listed: str) -> dict[str, list[str]]:
    return {name.strip("'"): _names(sizes.strip("(,)")) for name, sizes in _SHAPE.findall(listed)}
