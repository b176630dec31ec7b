"""Formulas as data: one small expression that numpy evaluates, export emits and import recognises.

An `Expression` is a tree of primitives over one variable. For an activation the variable is the
pre-activation `z`, any array; for an aggregation it is `v`, the weighted inputs, whose last axis is
reduced. Expressions are built with ordinary arithmetic and the functions of this module:

    >>> from neat_onnx.network.expression import VARIABLE as z, sigmoid
    >>> swish = z * sigmoid(z)
    >>> print(swish)
    z * sigmoid(z)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_erf = np.frompyfunc(math.erf, 1, 1)


def _softplus(x: Array) -> Array:
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def _elu(x: Array, alpha: float) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0)))


# A signature has a letter for each argument: `n` a number, `t` a truth value, `c` a constant, `v`
# numbers along a last axis (in aggregations only).
_ELEMENTWISE: dict[str, tuple[str, Callable[..., Any]]] = {
    "add": ("nn", np.add),
    "sub": ("nn", np.subtract),
    "mul": ("nn", np.multiply),
    "div": ("nn", np.divide),
    "neg": ("n", np.negative),
    "abs": ("n", np.abs),
    "sqrt": ("n", np.sqrt),
    "exp": ("n", np.exp),
    "log": ("n", np.log),
    "sin": ("n", np.sin),
    "tanh": ("n", np.tanh),
    "reciprocal": ("n", np.reciprocal),
    "sigmoid": ("n", lambda x: 1.0 / (1.0 + np.exp(-x))),
    "relu": ("n", lambda x: np.maximum(x, 0.0)),
    "softplus": ("n", _softplus),
    "softsign": ("n", lambda x: x / (1.0 + np.abs(x))),
    "elu": ("nc", _elu),
    "selu": ("ncc", lambda x, alpha, gamma: gamma * _elu(x, alpha)),
    "leaky_relu": ("nc", lambda x, slope: np.where(x < 0, slope * x, x)),
    "clip": ("ncc", lambda x, low, high: np.minimum(np.maximum(x, low), high)),
    "cos": ("n", np.cos),
    "tan": ("n", np.tan),
    "asin": ("n", np.arcsin),
    "acos": ("n", np.arccos),
    "atan": ("n", np.arctan),
    "sinh": ("n", np.sinh),
    "cosh": ("n", np.cosh),
    "asinh": ("n", np.arcsinh),
    "acosh": ("n", np.arccosh),
    "atanh": ("n", np.arctanh),
    "erf": ("n", lambda x: np.asarray(_erf(x), np.result_type(x))),
    "sign": ("n", np.sign),
    "floor": ("n", np.floor),
    "ceil": ("n", np.ceil),
    "round": ("n", np.rint),  # halves to even
    "pow": ("nn", np.power),
    "mod": ("nn", np.fmod),  # with the sign of what is divided
    "maximum": ("nn", np.maximum),
    "minimum": ("nn", np.minimum),
    "number": ("t", lambda truth: np.where(truth, 1.0, 0.0)),  # a truth value as 1 or 0
    "where": ("tnn", np.where),
}
_TRUTHS: dict[str, tuple[str, Callable[..., Any]]] = {
    "greater": ("nn", np.greater),
    "greater_or_equal": ("nn", np.greater_equal),
    "less": ("nn", np.less),
    "less_or_equal": ("nn", np.less_equal),
    "equal": ("nn", np.equal),
    "both": ("tt", np.logical_and),
    "either": ("tt", np.logical_or),
    "one_of": ("tt", np.logical_xor),
    "negated": ("t", np.logical_not),
    "is_nan": ("n", np.isnan),
    "is_infinite": ("n", np.isinf),
}
_LAST_AXIS: dict[str, tuple[str, Callable[..., Any]]] = {
    "total": ("v", lambda v: np.sum(v, axis=-1)),
    "product": ("v", lambda v: np.prod(v, axis=-1)),
    "largest": ("v", lambda v: np.max(v, axis=-1)),
    "smallest": ("v", lambda v: np.min(v, axis=-1)),
    "where_largest": ("v", lambda v: np.argmax(v, axis=-1, keepdims=True)),  # the first, on ties
    "pick": ("vv", lambda v, index: np.take_along_axis(v, index, axis=-1)),
    "lowest": ("vc", lambda v, count: np.sort(v, axis=-1)[..., : int(count)]),
}
_ALL = _ELEMENTWISE | _TRUTHS | _LAST_AXIS

PRIMITIVES = {name: function for name, (_, function) in _ALL.items()}
SIGNATURES = {name: signature for name, (signature, _) in _ALL.items()}
TRUTHS = frozenset(_TRUTHS)
REDUCING = frozenset(_LAST_AXIS)


# --- expressions ----------------------------------------------------------------------------------


Operator = Callable[["Expression", "Expression | float"], "Expression"]


def _infix(op: str) -> tuple[Operator, Operator]:
    """Return the methods of an operation, with the expression on the left and on the right."""
    return lambda one, other: call(op, one, other), lambda one, other: call(op, other, one)


@dataclass(frozen=True, eq=False)
class Expression:
    """One primitive applied to expressions; compared and hashed by structure.

    Attributes:
        op: the primitive's name, `variable` or `constant`.
        args: its operands.
        value: the number, for a constant.
        size: how many primitives, constants and variables the tree has.
        depth: how deep the tree is; 1 for a variable or a constant.
    """

    op: str
    args: tuple[Expression, ...] = ()
    value: float = 0.0
    size: int = field(init=False, repr=False)
    depth: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        size, depth = 1, 0
        for arg in self.args:
            size += arg.size
            depth = max(depth, arg.depth)
        vars(self).update(size=size, depth=depth + 1)

    @cached_property
    def key(self) -> bytes:
        """A digest of the structure: the cost of comparing does not grow with shared parts."""
        digest = blake2b(f"{self.op} {self.value + 0.0!r} ".encode(), digest_size=16)
        for arg in self.args:
            digest.update(arg.key)
        return digest.digest()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Expression) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    __add__, __radd__ = _infix("add")
    __sub__, __rsub__ = _infix("sub")
    __mul__, __rmul__ = _infix("mul")
    __truediv__, __rtruediv__ = _infix("div")

    def __neg__(self) -> Expression:
        return call("neg", self)

    def __abs__(self) -> Expression:
        return call("abs", self)

    def __str__(self) -> str:
        return self.text("z")

    @property
    def is_constant(self) -> bool:
        """It is one number, whatever z is."""
        return self.op == "constant"

    @property
    def is_truth(self) -> bool:
        """It gives truth values, not numbers."""
        return self.op in TRUTHS

    @cached_property
    def single(self) -> Expression:
        """The same tree with every constant rounded to float32."""
        if self.is_constant:
            with np.errstate(over="ignore"):
                rounded = float(np.float32(self.value))
            return self if rounded == self.value else constant(rounded)
        return self.over([arg.single for arg in self.args])

    @cached_property
    def stripped(self) -> tuple[tuple[float, ...], Expression]:
        """Factors of the variable, two different ones at most, and the tree without them."""
        if self.op == "variable":
            return (1.0,), self
        if self.op == "mul" and self.args[0].is_constant and self.args[1].op == "variable":
            return (self.args[0].value,), self.args[1]
        parts = [arg.stripped for arg in self.args]
        factors = dict.fromkeys(factor for found, _ in parts for factor in found)
        return tuple(factors)[:2], self.over([core for _, core in parts])

    def over(self, args: Sequence[Expression]) -> Expression:
        """The same primitive of other operands; itself where they are its own."""
        if all(one is other for one, other in zip(args, self.args, strict=True)):
            return self
        return Expression(self.op, tuple(args), self.value)

    def substitute(self, inner: Expression) -> Expression:
        """The same tree with `inner` in place of the variable."""
        if self.op == "variable":
            return inner
        return self.over([arg.substitute(inner) for arg in self.args])

    def evaluate(self, values: Array) -> Array:
        """Apply to `values` in their own precision; overflow gives infinities, without warnings.

        Args:
            values: any shape; for an aggregation (..., k), where k is the reduced axis.
        """
        with np.errstate(all="ignore"):
            return np.asarray(self.compute(values))

    def compute(self, values: Array) -> Any:
        """Apply to `values` as `evaluate` does, without silencing warnings of overflow."""
        if self.op == "variable":
            return values
        if self.op == "constant":
            return self.value
        return PRIMITIVES[self.op](*[arg.compute(values) for arg in self.args])

    def text(self, variable: str) -> str:
        """The formula as people write it; `formulas.parse_expression` reads it back."""
        if self.op == "variable":
            return variable
        if self.is_constant:
            return _number_text(self.value)
        parts = [arg.text(variable) for arg in self.args]
        if self.op not in INFIX:
            return f"{self.op}({', '.join(parts)})"
        left, right = (
            f"({part})" if arg.op in INFIX and not (self.op == "add" and arg.op in bare) else part
            for arg, part, bare in zip(self.args, parts, (INFIX, ("mul", "div")), strict=True)
        )
        return f"{left} {INFIX[self.op]} {right}"


INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def _number_text(value: float) -> str:
    """The shortest decimal that reads back to the same double."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


VARIABLE = Expression("variable")


def constant(value: float) -> Expression:
    """Return a number as an expression."""
    return Expression("constant", (), float(value))


def call(op: str, *operands: Expression | float) -> Expression:
    """The primitive named `op` applied to `operands`.

    Raises:
        KeyError: there is no such primitive.
    """
    PRIMITIVES[op]
    args = tuple(arg if isinstance(arg, Expression) else constant(arg) for arg in operands)
    if op in ("add", "mul") and args[1].is_constant and not args[0].is_constant:
        args = (args[1], args[0])  # one spelling for what commutes, so that import recognises both
    return Expression(op, args)


def _unary(op: str) -> Callable[[Expression], Expression]:
    return partial(call, op)


def _binary(op: str) -> Callable[[Expression | float, Expression | float], Expression]:
    return partial(call, op)


sqrt = _unary("sqrt")
exp = _unary("exp")
log = _unary("log")
sin = _unary("sin")
tanh = _unary("tanh")
reciprocal = _unary("reciprocal")
sigmoid = _unary("sigmoid")
relu = _unary("relu")
softplus = _unary("softplus")
softsign = _unary("softsign")
cos = _unary("cos")
tan = _unary("tan")
asin = _unary("asin")
acos = _unary("acos")
atan = _unary("atan")
sinh = _unary("sinh")
cosh = _unary("cosh")
asinh = _unary("asinh")
acosh = _unary("acosh")
atanh = _unary("atanh")
erf = _unary("erf")
sign = _unary("sign")
floor = _unary("floor")
ceil = _unary("ceil")
rounded = _unary("round")
power = _binary("pow")
maximum = _binary("maximum")
minimum = _binary("minimum")

greater = _binary("greater")
greater_or_equal = _binary("greater_or_equal")
less = _binary("less")
less_or_equal = _binary("less_or_equal")
equal = _binary("equal")
negated = _unary("negated")
is_nan = _unary("is_nan")
is_infinite = _unary("is_infinite")
number = _unary("number")

total = _unary("total")
product = _unary("product")
largest = _unary("largest")
smallest = _unary("smallest")
where_largest = _unary("where_largest")
pick = _binary("pick")


def elu(x: Expression, alpha: float = 1.0) -> Expression:
    """Return x where it is positive, else alpha · (e^x − 1)."""
    return call("elu", x, alpha)


def selu(x: Expression, alpha: float, gamma: float) -> Expression:
    """Return gamma · elu(x, alpha)."""
    return call("selu", x, alpha, gamma)


def leaky_relu(x: Expression, slope: float) -> Expression:
    """Return x where it is not negative, else slope · x."""
    return call("leaky_relu", x, slope)


def clip(x: Expression, low: float = -np.inf, high: float = np.inf) -> Expression:
    """Return x limited to [low, high]."""
    return call("clip", x, low, high)


def where(truth: Expression, x: Expression | float, y: Expression | float) -> Expression:
    """Return x where `truth` holds, else y."""
    return call("where", truth, x, y)


def ordered(v: Expression, rank: int) -> Expression:
    """The rank-th smallest, counted from 0: the largest of the rank + 1 lowest."""
    return largest(call("lowest", v, rank + 1))


# --- taking formulas apart ----------------------------------------------------------------------


def parts_of(formula: Expression) -> list[Expression]:
    """Return all different sub-expressions, each after its own."""
    found: dict[Expression, None] = {}

    def visit(part: Expression) -> None:
        if part not in found:
            for arg in part.args:
                visit(arg)
            found[part] = None

    visit(formula)
    return list(found)


def scalar_slope(formula: Expression) -> tuple[float, Expression]:
    """Return (c, f) so that the formula is f(c·z); (1, formula) if z has several factors."""
    factors, core = formula.stripped
    return (factors[0], core) if len(factors) == 1 else (1.0, formula)
