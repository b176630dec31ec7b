"""Checks of activations and aggregations that users register."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Protocol, TypeVar

from neat_onnx.errors import NetworkError
from neat_onnx.network.expression import VARIABLE, Expression
from neat_onnx.network.primitives import Array

Checker = TypeVar("Checker", bound=Callable[[str], None])

_EXPECTED = "Use arithmetic and the functions of neat_onnx.network.expression, not numpy's"
_FORMULA = "formula:"  # names that begin so are formulas written out
_MAX_PARTS = 10_000  # of a formula, which is evaluated part by part


class Function(Protocol):
    """An activation or an aggregation."""

    @property
    def builtin(self) -> bool:
        """It ships with the package, so that nothing may replace or remove it."""
        ...


_check: list[Callable[[str], None]] = []


def check_libraries_with(check: Checker) -> Checker:
    """Make `check` the function that refuses names of unknown libraries. A decorator.

    The libraries stand above this package.
    """
    _check[:] = [check]
    return check


def check_library(name: str | None) -> None:
    """Refuse the name of a library that there is not.

    Raises:
        OptionError: there is none; the hint lists the known ones.
    """
    if name is not None:
        for check in _check:
            check(name)


def check_name(kind: str, name: object, taken: Mapping[str, Function]) -> None:
    """Refuse a name that is no text, is empty or padded, or names a known function.

    Raises:
        NetworkError: says which, in one line.
    """
    if not isinstance(name, str):
        raise NetworkError(f"the name of an {kind} is text, got a {type(name).__name__}")
    if not name or name != name.strip() or not name.isprintable() or name.startswith(_FORMULA):
        raise NetworkError(
            f"{name!r} cannot be the name of an {kind}",
            hint="Use printable characters, without spaces at the ends or the prefix 'formula:'",
        )
    if name in taken:
        raise NetworkError(f"an {kind} named '{name}' is registered already")


def expression_of(kind: str, name: str, formula: Callable[..., Any], *args: Any) -> Expression:
    """Return the expression that a formula gives for its arguments.

    Raises:
        NetworkError: it is no function of these arguments, or gives something else.
    """
    if not callable(formula):
        raise NetworkError(
            f"the formula of the {kind} '{name}' is a {type(formula).__name__}, no function"
        )
    try:
        found = formula(*args)
    except Exception as error:  # the user's code may raise anything; it is the cause of ours
        raise NetworkError(
            f"the formula of the {kind} '{name}' fails: {type(error).__name__}: {error}",
            hint=_EXPECTED,
        ) from error
    if not isinstance(found, Expression):
        raise NetworkError(
            f"the formula of the {kind} '{name}' gives a {type(found).__name__}, no expression",
            hint=_EXPECTED,
        )
    return found


def function_of_z(kind: str, name: str, formula: Callable[..., Any]) -> Expression:
    """Return the expression that a formula gives for z.

    Raises:
        NetworkError: as `expression_of`; or it is too large, as one that doubles at each step soon
            is, nested too deeply, or has numbers that are not finite besides the bounds of a clip.
    """
    found = expression_of(kind, name, formula, VARIABLE)
    try:
        size = found.size
    except RecursionError:
        raise NetworkError(
            f"the formula of the {kind} '{name}' is nested too deeply",
            hint="Add up the parts of a long sum two by two",
        ) from None
    if size > _MAX_PARTS:
        raise NetworkError(
            f"the formula of the {kind} '{name}' has {size} primitives and numbers",
            hint=f"The largest may have {_MAX_PARTS}",
        )
    if not _is_finite(found):
        raise NetworkError(
            f"the formula of the {kind} '{name}' has a number that is not finite",
            hint="A bound of clip alone may be infinite",
        )
    return found


def _is_finite(formula: Expression) -> bool:
    """Whether all numbers in a formula are finite but for bounds of a clip."""
    bounds = formula.op == "clip"
    return all(
        _is_finite(part) if part.args else bounds or not part.is_constant or isfinite(part.value)
        for part in formula.args
    )


def check_shape(
    kind: str, name: str, expression: Expression, values: Array, shape: tuple[int, ...]
) -> None:
    """Refuse an expression that makes another shape of `values`: a constant, or a wrong reduction.

    Raises:
        NetworkError: says which shapes were found and wanted.
    """
    try:
        found = expression.evaluate(values).shape
    except (TypeError, ValueError, IndexError) as error:
        raise NetworkError(f"the {kind} '{name}' cannot be computed: {error}") from error
    if found != shape:
        raise NetworkError(
            f"the {kind} '{name}' makes the shape {list(found)} of {list(values.shape)}, "
            f"expected {list(shape)}"
        )


def unregister(kind: str, name: str, table: dict[str, Any]) -> None:
    """Take a function that a user registered out of the table.

    Raises:
        NetworkError: there is none of this name, or it came with the package.
    """
    if name not in table:
        raise NetworkError(f"no {kind} named '{name}' is registered")
    if table[name].builtin:
        raise NetworkError(f"the {kind} '{name}' came with the package, and stays")
    del table[name]
