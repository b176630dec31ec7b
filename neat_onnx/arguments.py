"""Arguments of public functions, checked where they come in.

    @takes(samples=WHOLE, runtime=TEXT)
    def verify(net, model, *, samples=256, runtime="reference"): ...

An argument of another kind is an OptionError in a line, before anything is computed. Checks that
need to know more (the file behind a path, the names of runtimes) are the function's own.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from math import isfinite
from numbers import Integral, Real
from typing import Any, NamedTuple, ParamSpec, TypeVar

from neat_onnx.errors import OptionError

P = ParamSpec("P")
R = TypeVar("R")
_MAX_CHARACTERS_SHOWN = 40
_PLAIN = (str, bytes, int, float, type(None))


class Kind(NamedTuple):
    """A kind of argument: in words, and a function that says whether a value is one."""

    expected: str
    fits: Callable[[Any], bool]


def takes(**kinds: Kind) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check arguments of the decorated function, by their names.

    Raises:
        OptionError: when the function is called with an argument that is not of its kind.
    """

    def checking(function: Callable[P, R]) -> Callable[P, R]:
        names = function.__code__.co_varnames

        @wraps(function)
        def checked(*args: P.args, **keywords: P.kwargs) -> R:
            for name, value in (*zip(names, args, strict=False), *keywords.items()):
                kind = kinds.get(name)
                if kind is not None and not kind.fits(value):
                    raise OptionError(
                        f"{name} is {shown(value)}, expected {kind.expected}",
                        where=name,
                        hint=f"help(neat_onnx.{function.__qualname__}) says more",
                    )
            return function(*args, **keywords)

        return checked

    return checking


def shown(value: Any) -> str:
    """A value in a message: as it is if it is short, else its type."""
    kind = type(value)
    text = repr(value) if kind in _PLAIN else ""
    return text if 0 < len(text) <= _MAX_CHARACTERS_SHOWN else f"of the type {kind.__name__}"


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, Python's or numpy's, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a real number, Python's or numpy's, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def listed(name: str, values: Any) -> list[Any]:
    """The elements of an argument that can be iterated over, and is no text.

    Raises:
        OptionError: it cannot.
    """
    if isinstance(values, Iterable) and _has_elements(values):
        return list(values)
    raise OptionError(
        f"{name} is {shown(values)}, expected a list", where=name, hint="Give a list, even of one"
    )


def optional(kind: Kind) -> Kind:
    """The kind, or None."""
    return Kind(f"{kind.expected}, or None", lambda value: value is None or kind.fits(value))


def instance_of(kind: type, name: str) -> Kind:
    """An object of a class."""
    return Kind(name, lambda value: isinstance(value, kind))


def one_of(*choices: str) -> Kind:
    """One of some texts."""
    words = " or ".join(f'"{choice}"' for choice in choices)
    return Kind(words, lambda value: isinstance(value, str) and value in choices)


def _has_elements(values: Any) -> bool:
    """Whether a value is no text, mapping, class or array without axes."""
    is_other = isinstance(values, str | bytes | Mapping | type)
    return not is_other and getattr(values, "shape", True) != ()


def _all(values: Any, fits: Callable[[Any], bool]) -> bool:
    return hasattr(values, "__getitem__") and _has_elements(values) and all(map(fits, values))


FLAG = Kind("True or False", lambda value: isinstance(value, bool))
TEXT = Kind("a text", lambda value: isinstance(value, str))
MAPPING = Kind("a mapping", lambda value: isinstance(value, Mapping))
NUMBER = Kind("a finite number", lambda value: is_number(value) and isfinite(value))
TEXTS = Kind("a list of texts", lambda values: _all(values, TEXT.fits))
WHOLE = Kind("an integer from 0 to 2^63 - 1", lambda value: is_whole(value) and 0 <= value < 2**63)
INTEGER = Kind("an integer of 64 bits", lambda value: is_whole(value) and -(2**63) <= value < 2**63)
INTEGERS = Kind("a list of integers", lambda values: _all(values, is_whole))
PATH = Kind(
    "a path", lambda value: isinstance(value, str | os.PathLike) and TEXT.fits(os.fspath(value))
)
