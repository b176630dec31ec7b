"""Hints in the flags of the command line, where Python has arguments."""

import re
import shlex

_NAME = r"'[^'\\,]*'"
_SIZES = rf"\((?:\d+|{_NAME})(?:, (?:\d+|{_NAME}))*,?\)"
_OUTPUTS = re.compile(rf"\boutputs=\[({_NAME}(?:, {_NAME})*)\]")
_SHAPES = re.compile(rf"\bshapes=\{{({_NAME}: {_SIZES}(?:, {_NAME}: {_SIZES})*)\}}")
_SHAPE = re.compile(rf"({_NAME}): ({_SIZES})")
_PLAIN = {"batch_axis=None": "--batch-axis none", "check=False": "--no-check"}


def in_flags(hint: str) -> str:
    """Return a hint with `--outputs`, `--shape` and other flags for the arguments of Python.

    A value that is cut off, or has names with commas or quotes, stays as Python has it.
    """
    for argument, flag in _PLAIN.items():
        hint = hint.replace(argument, flag)
    return _SHAPES.sub(_shapes, _OUTPUTS.sub(_outputs, hint))


def _outputs(match: re.Match[str]) -> str:
    return f"--outputs {shlex.quote(_unquoted(match[1]))}"


def _shapes(match: re.Match[str]) -> str:
    each = (f"{name}={sizes.strip('(,)')}" for name, sizes in _SHAPE.findall(match[1]))
    return " ".join(f"--shape {shlex.quote(_unquoted(text))}" for text in each)


def _unquoted(listed: str) -> str:
    return listed.replace("'", "").replace(", ", ",")
