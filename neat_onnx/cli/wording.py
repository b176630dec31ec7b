"""Errors and warnings as lines, with the flags of the command line where Python has arguments."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from neat_onnx.errors import Hint, ImportAdvice, NeatOnnxError, NeatOnnxWarning, printable


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
    arguments: Mapping[str, Any] = advice.arguments
    names = [*arguments.get("outputs", ()), *arguments.get("shapes", ())]
    names += [name for pair in arguments.get("memory", {}).items() for name in pair]
    can_be_typed = all("," not in name and name == printable(name).strip() for name in names)
    flags = [flag(arguments[name]) for name, flag in _FLAGS.items() if name in arguments]
    return advice.said(flags) if can_be_typed else str(advice)


def _once_each(flag: str, texts: Iterable[str]) -> str:
    return " ".join(f"{flag} {shlex.quote(text)}" for text in texts)


_FLAGS: dict[str, Callable[[Any], str]] = {
    "batch_axis": lambda _: "--batch-axis none",
    "check": lambda _: "--no-check",
    "memory": lambda memory: _once_each("--memory", map("=".join, memory.items())),
    "outputs": lambda names: f"--outputs {shlex.quote(','.join(names))}",
    "shapes": lambda shapes: _once_each(
        "--shape", (f"{name}={','.join(map(str, sizes))}" for name, sizes in shapes.items())
    ),
}
"""By argument of `import_model`, the flags for its value."""
