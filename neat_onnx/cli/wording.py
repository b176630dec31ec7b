"""Errors and warnings as lines, with the flags of the command line where Python has arguments."""

import shlex
from collections.abc import Iterable, Iterator

from neat_onnx.errors import (
    Hint,
    ImportAdvice,
    ImportArguments,
    NeatOnnxError,
    NeatOnnxWarning,
    printable,
)


def error_line(error: NeatOnnxError) -> str:
    """Return the line that tells an error."""
    error.hints = in_flags(error.hints)
    return f"error: {error}"


def warning_line(warning: NeatOnnxWarning) -> str:
    """Return the text of a warning."""
    return warning.said(in_flags(warning.hints))


def in_flags(hints: Iterable[Hint]) -> tuple[str, ...]:
    """Return hints with `--outputs`, `--shape` and other flags for the arguments of Python."""
    return tuple(each if isinstance(each, str) else _in_flags(each) for each in hints)


def _in_flags(advice: ImportAdvice) -> str:
    """The text with flags; as Python has it where a name cannot be typed in one."""
    arguments = advice.arguments
    names = [*arguments.get("outputs", ()), *arguments.get("shapes", ())]
    names += [name for pair in arguments.get("memory", {}).items() for name in pair]
    can_be_typed = all("," not in name and name == printable(name).strip() for name in names)
    return advice.said(_flags(arguments)) if can_be_typed else str(advice)


def _flags(arguments: ImportArguments) -> Iterator[str]:
    if "batch_axis" in arguments:
        yield "--batch-axis none"
    if "check" in arguments:
        yield "--no-check"
    if "memory" in arguments:
        texts = (f"{name}={following}" for name, following in arguments["memory"].items())
        yield " ".join(f"--memory {shlex.quote(text)}" for text in texts)
    if "outputs" in arguments:
        yield f"--outputs {shlex.quote(','.join(arguments['outputs']))}"
    shapes = arguments.get("shapes", {}).items()
    if shapes:
        texts = (f"{name}={','.join(map(str, sizes))}" for name, sizes in shapes)
        yield " ".join(f"--shape {shlex.quote(text)}" for text in texts)
