"""Hints in the flags of the command line, where Python has arguments."""

import shlex
from collections.abc import Iterable, Iterator

from neat_onnx.errors import Hint, ImportAdvice, ImportArguments, printable


def in_flags(hints: Iterable[Hint]) -> tuple[str, ...]:
    """Return hints with `--outputs`, `--shape` and other flags for the arguments of Python."""
    return tuple(each if isinstance(each, str) else _in_flags(each) for each in hints)


def _in_flags(advice: ImportAdvice) -> str:
    """The text with flags; as Python has it where a name cannot be typed in one."""
    arguments = advice.arguments
    names = [*arguments.get("outputs", ()), *arguments.get("shapes", ())]
    return advice.said(_flags(arguments)) if all(map(_can_be_typed, names)) else str(advice)


def _can_be_typed(name: str) -> bool:
    return "," not in name and name == printable(name).strip()


def _flags(arguments: ImportArguments) -> Iterator[str]:
    if "batch_axis" in arguments:
        yield "--batch-axis none"
    if "check" in arguments:
        yield "--no-check"
    if "outputs" in arguments:
        yield f"--outputs {shlex.quote(','.join(arguments['outputs']))}"
    shapes = arguments.get("shapes", {}).items()
    texts = (f"{name}={','.join(map(str, sizes))}" for name, sizes in shapes)
    if shapes:
        yield " ".join(f"--shape {shlex.quote(text)}" for text in texts)
