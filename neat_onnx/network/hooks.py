"""Verbs of a network that rooms above this one do: these give their functions here."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

Verb = Literal["check library", "find writer", "advise", "draw"]
"""Refuse the name of an unknown library; find a library to write for, by name or path; add hints to
a library's refusal of a network; draw a network as "svg" or "html".
"""
Function = TypeVar("Function", bound=Callable[..., Any])

_given: dict[Verb, Callable[..., Any]] = {}


def does(verb: Verb) -> Callable[[Function], Function]:
    """Make a function the one that does a verb. A decorator."""

    def give(function: Function) -> Function:
        _given[verb] = function
        return function

    return give


def done_by(verb: Verb) -> Callable[..., Any]:
    """Return the function that does a verb."""
    return _given[verb]
