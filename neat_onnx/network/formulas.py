"""Formulas from outside: the texts of files, parsed, and the functions of users, checked.

The grammar of a text is the inverse of how an Expression prints:

    sum      = product { ("+" | "-") product }
    product  = operand { ("*" | "/") operand }
    operand  = number | "-" operand | variable | primitive "(" sum { "," sum } ")" | "(" sum ")"

A text is data from a file: nothing of it is ever run as code, and how long, how deep and how large
a formula may be is limited.
"""

import math
import re
from collections.abc import Callable, Container, Iterator
from typing import Any, NamedTuple, NoReturn, TypeVar

from neat_onnx.errors import NetworkError
from neat_onnx.network.expression import (
    INFIX,
    REDUCING,
    SIGNATURES,
    VARIABLE,
    Array,
    Expression,
    call,
    constant,
)

MAX_CHARACTERS, MAX_DEPTH, MAX_NODES = 10_000, 100, 400
_KNOWN = {name: kinds for name, kinds in SIGNATURES.items() if name not in REDUCING}
_KINDS = {"n": "a number", "t": "a truth value", "c": "a constant"}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf\b|∞)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>[-+*/(),])|(?P<end>$)|(?P<wrong>.))",
    re.ASCII | re.DOTALL,
)
_VARIABLE = "z"
_OPERATORS = {sign: op for op, sign in INFIX.items()}


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


def parse_expression(text: str) -> Expression:
    """Read the formula of an activation that `str(expression)` writes: `z * sigmoid(1.7 * z)`.

    Raises:
        NetworkError: it is no formula, names an unknown primitive, or is too large; says where.
    """
    if len(text) > MAX_CHARACTERS:
        raise NetworkError(
            f"a formula of {len(text)} characters",
            hint=f"The longest that is read has {MAX_CHARACTERS}",
        )
    return _Parser(text).formula()


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._nested = 0

    def formula(self) -> Expression:
        found = self._sum()
        if self._next.kind != "end":
            self._fail(f"unexpected '{self._next.text}'")
        self._require(found, "n", "the formula")
        if not _reads_variable(found):
            self._fail(f"the formula does not read {_VARIABLE}")
        if found.size > MAX_NODES:
            raise NetworkError(
                f"a formula of {found.size} primitives and numbers",
                hint=f"The largest that is read has {MAX_NODES}",
            )
        return found

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._next
        self._at += 1
        return token

    def _expect(self, sign: str) -> None:
        if self._next.text != sign:
            self._fail(f"expected '{sign}', got '{self._next.text or 'the end'}'")
        self._take()

    def _fail(self, message: str, hint: str | None = None) -> NoReturn:
        place = f"character {self._next.position + 1} of the formula"
        raise NetworkError(message, where=place, hint=hint)

    def _sum(self) -> Expression:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> Expression:
        return self._chain(("*", "/"), self._operand)

    def _chain(self, signs: tuple[str, str], part: Callable[[], Expression]) -> Expression:
        found = part()
        while self._next.text in signs:
            found = self._joined(found, self._take(), part())
        return found

    def _joined(self, left: Expression, sign: _Token, right: Expression) -> Expression:
        if left.depth > MAX_DEPTH:
            self._fail(
                f"the formula has more than {MAX_DEPTH} operations one after the other",
                "Group terms or factors with parentheses",
            )
        return self._applied(_OPERATORS[sign.text], [left, right])

    def _operand(self) -> Expression:
        self._nested += 1
        if self._nested > MAX_DEPTH:
            self._fail("the formula is nested too deeply", f"At most {MAX_DEPTH} levels are read")
        negative = self._next.text == "-"
        if negative:
            self._take()
        if self._next.kind == "number":
            text = "-" * negative + self._take().text
            found = constant(float(text.replace("∞", "inf")))
        elif negative:
            found = self._applied("neg", [self._operand()])
        elif self._next.kind == "name":
            found = self._named()
        else:
            self._expect("(")
            found = self._sum()
            self._expect(")")
        self._nested -= 1
        return found

    def _named(self) -> Expression:
        token = self._next
        if token.text == _VARIABLE:
            self._take()
            return VARIABLE
        if token.text not in _KNOWN:
            known = ", ".join(sorted(_KNOWN))
            self._fail(f"unknown name '{token.text}'", f"Known: {_VARIABLE}, {known}")
        self._take()
        self._expect("(")
        args = [self._sum()]
        while self._next.text == ",":
            self._take()
            args.append(self._sum())
        self._expect(")")
        return self._applied(token.text, args)

    def _applied(self, name: str, args: list[Expression]) -> Expression:
        kinds = _KNOWN[name]
        if len(args) != len(kinds):
            self._fail(f"{name} takes {len(kinds)} arguments, got {len(args)}")
        for arg, kind in zip(args, kinds, strict=True):
            self._require(arg, kind, f"an argument of {name}")
            if name != "clip" and abs(arg.value) == math.inf:
                self._fail(f"an argument of {name} is not a finite number")
        return call(name, *args)

    def _require(self, part: Expression, kind: str, subject: str) -> None:
        if part.is_truth != (kind == "t") or (kind == "c" and not part.is_constant):
            hint = "number(…) makes 1 or 0 of a truth value" if part.is_truth else None
            self._fail(f"{subject} has to be {_KINDS[kind]}", hint)


def _reads_variable(part: Expression) -> bool:
    return part == VARIABLE or any(_reads_variable(arg) for arg in part.args)


def _tokens(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or "end"
        token = _Token(kind, found.group(kind), found.start(kind))
        if kind == "wrong":
            raise NetworkError(
                f"unexpected '{token.text}'", where=f"character {token.position + 1} of the formula"
            )
        yield token
        if kind == "end":
            return


# --- functions of users, which become activations and aggregations --------------------------------

Checker = TypeVar("Checker", bound=Callable[[str], None])

_EXPECTED = "Use arithmetic and the functions of neat_onnx.network.expression, not numpy's"
_FORMULA = "formula:"  # names that begin so are formulas written out
_MAX_PARTS = 10_000  # of a formula, which is evaluated part by part
_check: list[Callable[[str], None]] = []


def check_libraries_with(check: Checker) -> Checker:
    """Make `check` the function that refuses names of unknown libraries. A decorator.

    The libraries stand above this package.
    """
    _check[:] = [check]
    return check


def check_library(name: str | None) -> None:
    """Refuse the name of a library that there is not, with an OptionError."""
    if name is not None:
        for check in _check:
            check(name)


def check_name(kind: str, name: object, taken: Container[str]) -> None:
    """Refuse a name that is no text, is empty or padded, or names a known function."""
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
    """Return the expression that a formula gives for its arguments; refuse what is none."""
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

    Refused as well, with a NetworkError, is one that is too large, as one that doubles at each step
    soon is, nested too deeply, or has numbers that are not finite besides the bounds of a clip.
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
        _is_finite(part)
        if part.args
        else bounds or not part.is_constant or math.isfinite(part.value)
        for part in formula.args
    )


def check_shape(
    kind: str, name: str, expression: Expression, values: Array, shape: tuple[int, ...]
) -> None:
    """Refuse an expression that makes another shape of `values`: a constant, a wrong reduction."""
    try:
        found = expression.evaluate(values).shape
    except (TypeError, ValueError, IndexError) as error:
        raise NetworkError(f"the {kind} '{name}' cannot be computed: {error}") from error
    if found != shape:
        raise NetworkError(
            f"the {kind} '{name}' makes the shape {list(found)} of {list(values.shape)}, "
            f"expected {list(shape)}"
        )


def unregister(
    kind: str,
    name: str,
    library: str | None,
    table: dict[str, Any],
    of_libraries: dict[tuple[str, str], str],
) -> None:
    """Take a function that a user registered out of a table, or out of that of libraries' names."""
    if library is not None:
        if of_libraries.pop((library, name), None) is None:
            raise NetworkError(f"no {kind} named '{name}' of {library} is registered")
        return
    if name not in table:
        raise NetworkError(f"no {kind} named '{name}' is registered")
    if table[name].builtin:
        raise NetworkError(f"the {kind} '{name}' came with the package, and stays")
    del table[name]
