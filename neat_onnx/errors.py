"""The one exception family, and the warning.

Exception
└── NeatOnnxError          everything this package raises on bad input
    ├── DocumentError      the text is not JSON, or not a document this package knows
    ├── NetworkError       a network is not one: a bad weight, a missing neuron, a cycle
    ├── ModelError         a model is not valid, or uses something unsupported
    └── OptionError        an option has a value it cannot have
UserWarning
└── NeatOnnxWarning        the result is right, but there is something to know about it
"""

import os
import sys
import unicodedata
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TypedDict

_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_MAX_CHARACTERS = 400
_MAX_OBSTACLES_LISTED = 50
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_DECORATING = ("numpy", "contextlib")  # a decorator of theirs, as `np.errstate`, has a frame


def printable(text: str) -> str:
    """`text` with control, format and separator characters escaped and its length bounded.

    Names in messages come from files: they may hold terminal escapes or bidi overrides.
    """
    shown = "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in _HIDDEN else char
        for char in text[: _MAX_CHARACTERS + 1]
    )
    return shown if len(text) <= _MAX_CHARACTERS else shown[:_MAX_CHARACTERS] + "…"


class ImportArguments(TypedDict, total=False):
    """Arguments of `import_model` that can help where an import fails."""

    batch_axis: None
    check: bool
    memory: Mapping[str, str]
    outputs: Sequence[str]
    shapes: Mapping[str, tuple[int | str, ...]]


@dataclass(frozen=True)
class ImportAdvice:
    """A hint to import a model with other arguments, which its text shows as Python has them.

    Attributes:
        sentence: the text, with `{}` where the arguments stand.
        arguments: the arguments.
    """

    sentence: str
    arguments: ImportArguments

    def __str__(self) -> str:
        return self.said(f"{name}={value!r}" for name, value in self.arguments.items())

    def said(self, arguments: Iterable[str]) -> str:
        """Return the text with the arguments in other words, as the flags of a command."""
        return printable(self.sentence.format(" and ".join(arguments)))


Hint = str | ImportAdvice


class NeatOnnxError(Exception):
    """Bad input: the fault, its place, and a way out.

    Attributes:
        message: the fault, one sentence without its full stop.
        where: a JSON path, a node's or a neuron's name; None if it is the whole input.
        hints: the ways out, a sentence each; none if they are obvious.
        obstacles: where several things stand in the way, each of them in a sentence.
    """

    hints: tuple[Hint, ...]
    obstacles: tuple[str, ...] = ()

    def __init__(
        self, message: str, *, where: str | None = None, hint: Hint | Iterable[Hint] | None = None
    ) -> None:
        self.message = printable(message)
        self.where = None if where is None else printable(where)
        hints = () if not hint else (hint,) if isinstance(hint, Hint) else hint
        self.hints = tuple(printable(each) if isinstance(each, str) else each for each in hints)
        super().__init__(self.message)

    @property
    def hint(self) -> str | None:
        """The text of the hints; None if there are none."""
        return ". ".join(map(str, self.hints)) or None

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        listed = f": {'; '.join(self.first_obstacles)}" if self.obstacles else ""
        advice = f". {self.hint}" if self.hint else ""
        return f"{self.message}{place}{listed}{advice}"

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults with their places, without a way out."""
        place = f" ({self.where})" if self.where else ""
        return self.obstacles or (f"{self.message}{place}",)

    @property
    def first_obstacles(self) -> list[str]:
        """The first obstacles, and the number of the others in words."""
        more = len(self.obstacles) - _MAX_OBSTACLES_LISTED
        others = [f"and {more} more"] if more > 0 else []
        return [*self.obstacles[:_MAX_OBSTACLES_LISTED], *others]


class DocumentError(NeatOnnxError):
    """The text is not JSON, or not a document this package knows."""


class NetworkError(NeatOnnxError):
    """A network is not one: a bad weight, a missing neuron, a cycle."""


class ModelError(NeatOnnxError):
    """A model is not valid, or uses something unsupported."""


def all_obstacles(errors: Sequence[ModelError]) -> ModelError:
    """Return one error that tells of all of these, and each way out once; a single one as it is."""
    if len(errors) == 1:
        return errors[0]
    hints = {str(hint): hint for error in errors for hint in error.hints}
    together = ModelError(f"{len(errors)} nodes are not supported", hint=hints.values())
    together.obstacles = tuple(fault for error in errors for fault in error.faults)
    return together


def abridged(names: Iterable[str], most: int = 8) -> str:
    """Return names as a list in a sentence: the first of them, and the number of the others."""
    listed = list(names)
    others = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {others} more" if others > 0 else "")


class OptionError(NeatOnnxError):
    """An option has a value it cannot have."""


class NeatOnnxWarning(UserWarning):
    """The result is right, but there is something to know about it.

    Attributes:
        message: the remark, one sentence without its full stop.
        hints: ways to deal with it, a sentence each.
    """

    def __init__(self, message: str, *hints: Hint) -> None:
        super().__init__(message, *hints)
        self.message, self.hints = message, hints

    def __str__(self) -> str:
        return ". ".join([self.message, *map(str, self.hints)])

    def said(self, hints: Iterable[str]) -> str:
        """Return the text, printable, with the hints in other words, as the flags of a command."""
        return ". ".join([printable(self.message), *hints])


def warn(message: str, *hints: Hint) -> None:
    """Issue a NeatOnnxWarning that points at the line of the caller outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_passed_over(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(NeatOnnxWarning(message, *hints), stacklevel=level)


def _is_passed_over(frame: FrameType) -> bool:
    """Whether a frame is of this package, or of a decorator of one of its functions."""
    if frame.f_code.co_filename.startswith(_PACKAGE):
        return True
    return str(frame.f_globals.get("__name__")).partition(".")[0] in _DECORATING
