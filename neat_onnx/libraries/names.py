"""From a library's names of functions to ours, and its numbers that are text."""

import math
from collections.abc import Mapping
from typing import Literal

from neat_onnx.errors import NetworkError
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.aggregations import AGGREGATIONS

Kind = Literal["activation", "aggregation"]


def translated(name: str, names: Mapping[str, str], kind: Kind, where: str, library: str) -> str:
    """Return the name in a Network of the function that a library calls `name`, or refuse it.

    Args:
        name: the library's.
        names: the library's names to ours.
        kind: what the function is for.
        where: JSON path of the name, for the error.
        library: the library, by the name for which users register its custom functions.
    """
    if name in names:
        return names[name]
    registered = formula_of(library, name, kind)
    if registered is not None:
        return registered
    if is_users_own(name, kind):
        return name
    hint = (f"Known: {', '.join(sorted(names))}", how_to_register(name, kind, library))
    raise NetworkError(f"unknown {kind} '{name}'", where=where, hint=hint)


def formula_of(library: str, name: str, kind: Kind) -> str | None:
    """Return our function registered for a custom one of a library; None if none is."""
    table = ACTIVATIONS if kind == "activation" else AGGREGATIONS
    return table.of_libraries.get((library, name))


def is_users_own(name: str, kind: Kind) -> bool:
    """Whether the user registered a function of this name."""
    found = (ACTIVATIONS if kind == "activation" else AGGREGATIONS).get(name)
    return found is not None and not found.builtin


def how_to_register(name: str, kind: Kind, library: str) -> str:
    """The hint that says how to make `name` known: a line that works as it is."""
    formula = "lambda z: z"
    if kind == "aggregation":
        formula = "lambda v, k: neat_onnx.network.expression.total(v)"
    line = f"neat_onnx.register_{kind}({name!r}, {formula}, library={library!r})"
    return (
        f"To add it, with its formula in the place of this one: {line} (command line: that line in "
        "a file, after import neat_onnx, and --plugin FILE)"
    )


def reversed_names(names: Mapping[str, str]) -> dict[str, str]:
    """Return our names to the library's; of several for one of ours, the first."""
    return {ours: theirs for theirs, ours in reversed(list(names.items()))}


def finite_number(text: str, name: str, where: str) -> float:
    """Return the finite number that a text spells; its name and place are for the refusal."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise NetworkError(f"{name} should be a finite number, got '{text[:40]}'", where=where)
    return value


def integer_of(text: str, name: str, where: str, least: int = 0, most: int = 2**31 - 1) -> int:
    """Return the integer that a text spells; its name and place are for the refusal."""
    digits = text.removeprefix("-")
    is_integer = digits.isascii() and digits.isdigit() and len(digits) <= 12
    if not is_integer or not least <= int(text) <= most:
        raise NetworkError(f"{name} should be a small integer, got '{text[:40]}'", where=where)
    return int(text)
