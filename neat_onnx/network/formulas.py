"""Formulas from outside: the texts of files, read, and the functions of users, registered.

A text is what an Expression prints: numbers, z, `+ - * /`, parentheses, and calls of primitives.
Python's own parser reads its structure, and nothing of it is ever run as code; how long, how deep
and how large a formula may be is limited.
"""

import ast
import math
import re
from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeVar

from neat_onnx.errors import NetworkError
from neat_onnx.network.expression import (
    REDUCING,
    SIGNATURES,
    VARIABLE,
    Array,
    Expression,
    call,
    constant,
    parts_of,
)
from neat_onnx.network.hooks import done_by

_PREFIX = "formula:"  # of names that are formulas written out
MAX_CHARACTERS, MAX_DEPTH, MAX_NODES = 10_000, 100, 400
_KNOWN = {name: kinds for name, kinds in SIGNATURES.items() if name not in REDUCING}
_KINDS = {"n": "a number", "t": "a truth value", "c": "a constant"}
_TOKENS = re.compile(
    r"(?:\s|[-+*/(),∞]|[A-Za-z_]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))*", re.ASCII
)
_NAMES = {"z": VARIABLE, "inf": constant(math.inf)}
_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


def parse_expression(text: str) -> Expression:
    """Read the formula of an activation that `str(expression)` writes: `z * sigmoid(1.7 * z)`.

    Raises:
        NetworkError: it is no formula, names an unknown primitive, or is too large; says where.
    """
    if len(text) > MAX_CHARACTERS or len(re.findall(r"[-+*/(,]|\w+", text)) > 4 * MAX_NODES:
        hint = f"At most {MAX_CHARACTERS} are read, and {MAX_NODES} primitives and numbers"
        raise NetworkError(f"a formula of {len(text)} characters is too large", hint=hint)
    found = _TOKENS.match(text)
    if found is None or found.end() < len(text):
        place = 0 if found is None else found.end()
        raise _error(place, f"unexpected '{text[place]}'")
    plain = re.sub(r"\s", " ", text.replace("∞", "inf")).rstrip()
    before = len(plain) - len(plain.lstrip())
    try:
        tree = ast.parse(plain[before:], mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as error:
        offset, message = getattr(error, "offset", 1), getattr(error, "msg", "nested too deeply")
        raise _error(before + (offset or 1) - 1, f"this is no formula: {message}") from error
    formula = _Reader(plain[before:], before).read(tree)
    if formula.size > MAX_NODES:
        hint = f"The largest that is read has {MAX_NODES}"
        raise NetworkError(f"a formula of {formula.size} primitives and numbers", hint=hint)
    _require(formula, "n", "the formula", 0)
    if VARIABLE not in parts_of(formula):
        raise _error(0, "the formula does not read z")
    return formula


class _Reader:
    """Turns the syntax tree of a text into an expression."""

    def __init__(self, text: str, before: int) -> None:
        self._text, self._before = text, before

    def read(self, node: ast.expr, depth: int = 1) -> Expression:
        place, text = self._before + node.col_offset, self._text[node.col_offset :]
        text = text[: (node.end_col_offset or 0) - node.col_offset]
        if depth > MAX_DEPTH:
            raise _error(
                place,
                "the formula is nested too deeply",
                f"At most {MAX_DEPTH} operations are read inside or after one another: group the "
                "terms of a long sum with parentheses",
            )
        match node:
            case ast.Constant() if text[0] in ".0123456789":
                return constant(float(text))
            case ast.Name(id=name) if name in _NAMES:
                return _NAMES[name]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() | ast.Name(id="inf") as number):
                return constant(-self.read(number, depth + 1).value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._applied("neg", [operand], depth, place)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return self._applied(_OPERATORS[type(op)], [left, right], depth, place)
            case ast.Call(func=ast.Name(id=name), args=args) if name in _KNOWN:
                return self._applied(name, args, depth, place)
            case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)):
                known = ", ".join(sorted(_KNOWN))
                raise _error(place, f"unknown name '{name}'", f"Known: z, {known}")
            case _:
                raise _error(place, f"unexpected '{text[:40]}'")

    def _applied(self, name: str, nodes: list[ast.expr], depth: int, place: int) -> Expression:
        kinds = _KNOWN[name]
        if len(nodes) != len(kinds):
            raise _error(place, f"{name} takes {len(kinds)} arguments, got {len(nodes)}")
        args = [self.read(node, depth + 1) for node in nodes]
        for arg, kind in zip(args, kinds, strict=True):
            _require(arg, kind, f"an argument of {name}", place)
            if name != "clip" and abs(arg.value) == math.inf:
                raise _error(place, f"an argument of {name} is not a finite number")
        return call(name, *args)


def _require(part: Expression, kind: str, subject: str, place: int) -> None:
    if part.is_truth != (kind == "t") or (kind == "c" and not part.is_constant):
        hint = "number(…) makes 1 or 0 of a truth value" if part.is_truth else None
        raise _error(place, f"{subject} has to be {_KINDS[kind]}", hint)


def _error(place: int, message: str, hint: str | None = None) -> NetworkError:
    return NetworkError(message, where=f"character {place + 1} of the formula", hint=hint)


# --- functions of users, which become activations and aggregations --------------------------------

_EXPECTED = "Use arithmetic and the functions of neat_onnx.network.expression, not numpy's"
_MAX_PARTS, _MAX_NESTED = 10_000, 250  # of a formula, which is evaluated part by part


class Function(Protocol):
    """An activation or an aggregation."""

    @property
    def builtin(self) -> bool:
        """It came with the package."""
        ...


Registered = TypeVar("Registered", bound=Function)


class Registry(dict[str, Registered]):
    """Functions by their names in a Network.

    Attributes:
        of_libraries: users' names of functions of a library, (library, name), to names here.
        changes: how often a name of any registry was given or forgotten.
    """

    changes = 0

    def __init__(self, kind: Literal["activation", "aggregation"]) -> None:
        super().__init__()
        self._kind = kind
        self.of_libraries: dict[tuple[str, str], str] = {}

    def __setitem__(self, name: str, function: Registered) -> None:
        Registry.changes += 1
        super().__setitem__(name, function)

    def __delitem__(self, name: str) -> None:
        Registry.changes += 1
        super().__delitem__(name)

    def check(self, name: object, library: str | None) -> None:
        """Refuse a name that is no text, is empty or padded, or is taken; an unknown library."""
        if library is not None:
            done_by("check library")(library)
        if not isinstance(name, str):
            raise NetworkError(f"the name of an {self._kind} is text, got a {type(name).__name__}")
        if not name or name != name.strip() or not name.isprintable() or name.startswith(_PREFIX):
            raise NetworkError(
                f"{name!r} cannot be the name of an {self._kind}",
                hint="Use printable characters, without spaces at the ends or the prefix "
                f"'{_PREFIX}'",
            )
        if library is None and name in self:
            raise NetworkError(f"an {self._kind} named '{name}' is registered already")
        if library is not None and (library, name) in self.of_libraries:
            raise NetworkError(f"an {self._kind} named '{name}' of {library} is registered already")

    def named(self, name: str, hint: str) -> Registered:
        """Return the function of a name; refuse an unknown one, with a hint and the known names."""
        if name not in self:
            known = f"{hint}. Known: {', '.join(sorted(self))}"
            raise NetworkError(f"unknown {self._kind} '{name}'", hint=known)
        return self[name]

    def forget(self, name: str, library: str | None) -> None:
        """Take out a function that a user registered, or a library's name for one."""
        if library is not None:
            if self.of_libraries.pop((library, name), None) is None:
                raise NetworkError(f"no {self._kind} named '{name}' of {library} is registered")
            return
        if name not in self:
            raise NetworkError(f"no {self._kind} named '{name}' is registered")
        if self[name].builtin:
            raise NetworkError(f"the {self._kind} '{name}' came with the package, and stays")
        del self[name]


def expression_of(kind: str, name: str, formula: Callable[..., Any], *args: Any) -> Expression:
    """Return the expression that a formula gives for its arguments; refuse what is none."""
    wrong = f"the formula of the {kind} '{name}'"
    if not callable(formula):
        raise NetworkError(f"{wrong} is a {type(formula).__name__}, no function")
    try:
        found = formula(*args)
    except Exception as error:  # the user's code may raise anything; it is the cause of ours
        raise NetworkError(
            f"{wrong} fails: {type(error).__name__}: {error}", hint=_EXPECTED
        ) from error
    if not isinstance(found, Expression):
        raise NetworkError(f"{wrong} gives a {type(found).__name__}, no expression", hint=_EXPECTED)
    return found


def function_of_z(kind: str, name: str, formula: Callable[..., Any]) -> Expression:
    """Return the expression that a formula gives for z.

    Refused as well, with a NetworkError, is one that is too large, as one that doubles at each step
    soon is, nested too deeply, or has numbers that are not finite besides the bounds of a clip.
    """
    found = expression_of(kind, name, formula, VARIABLE)
    wrong = f"the formula of the {kind} '{name}'"
    if found.depth > _MAX_NESTED:
        raise NetworkError(
            f"{wrong} is nested too deeply", hint="Add up the parts of a long sum two by two"
        )
    if found.size > _MAX_PARTS:
        hint = f"The largest may have {_MAX_PARTS}"
        raise NetworkError(f"{wrong} has {found.size} primitives and numbers", hint=hint)
    others = [part for part in parts_of(found) if part.op != "clip"]
    if not all(math.isfinite(arg.value) for part in others for arg in part.args):
        raise NetworkError(
            f"{wrong} has a number that is not finite", hint="A bound of clip alone may be infinite"
        )
    return found


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
