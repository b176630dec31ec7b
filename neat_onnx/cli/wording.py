"""Hints in the flags of the command line, where Python has arguments."""

import shlex

from neat_onnx.hinted_arguments import reworded

_PLAIN = {"batch_axis=None": "--batch-axis none", "check=False": "--no-check"}


def in_flags(hint: str) -> str:
    """Return a hint with `--outputs`, `--shape` and other flags for the arguments of Python."""
    return reworded(hint, _PLAIN, _outputs, _shapes)


def _outputs(names: list[str]) -> str:
    return f"--outputs {shlex.quote(','.join(names))}"


def _shapes(shapes: dict[str, list[str]]) -> str:
    each = (f"{name}={','.join(sizes)}" for name, sizes in shapes.items())
    return " ".join(f"--shape {shlex.quote(text)}" for text in each)
