"""How much of a sweep is tested: a part that meets every kind, or with `WHOLE=1` all of it."""

import os
from collections.abc import Iterable, Sequence
from itertools import cycle, islice, product
from typing import Any, TypeVar

from support.harness.pairwise import pairwise

Value = TypeVar("Value")
ONE_FUNCTION = ("activation_", "aggregation_")
"""How the names of networks begin that differ in one function alone."""
WHOLE = bool(os.environ.get("WHOLE"))


def each(step: int, values: Sequence[Value]) -> list[Value]:
    """Every value of that step, from the first; all of them in a whole sweep."""
    return list(values[:: 1 if WHOLE else step])


def pairs(*factors: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Combinations in which every two values meet; all of them in a whole sweep."""
    values = [list(factor) for factor in factors]
    return list(product(*values)) if WHOLE else pairwise(*values)


def every(*factors: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Combinations in which every value is met; all of them in a whole sweep."""
    values = [list(factor) for factor in factors]
    if WHOLE:
        return list(product(*values))
    return list(islice(zip(*map(cycle, values), strict=True), max(map(len, values))))


def count(few: int, many: int) -> int:
    """So few random cases, or so many in a whole sweep."""
    return many if WHOLE else few


def unlike(names: Iterable[str]) -> list[str]:
    """The names of networks that differ in more than one function, and every sixth of the others;
    for tests to which it is all the same what a neuron computes.
    """
    listed = list(names)
    alike = [name for name in listed if name.startswith(ONE_FUNCTION)]
    return [name for name in listed if name not in alike or name in each(6, alike)]
