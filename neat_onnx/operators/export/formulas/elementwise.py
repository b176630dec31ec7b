"""The elementwise operators: activations and arithmetic, from formulas and back to them."""

from neat_onnx.model import Attributes, Node
from neat_onnx.network.expression import Expression
from neat_onnx.operators.export.formulas.formula import (
    Emission,
    FormulaEmitter,
    emits,
)
from neat_onnx.operators.export.formulas.nodes import Binary, Unary


class Sigmoid(Unary):
    """1 / (1 + exp(-x)), element by element."""


class Tanh(Unary):
    """The hyperbolic tangent, element by element."""


class Exp(Unary):
    """The exponential, element by element."""


class Log(Unary):
    """The natural logarithm, element by element."""


class Sin(Unary):
    """The sine, element by element."""

    since = 7


class Sqrt(Unary):
    """The square root, element by element."""


class Abs(Unary):
    """The absolute value, element by element."""


class Neg(Unary):
    """-x, element by element."""


class Reciprocal(Unary):
    """1 / x, element by element."""


class Relu(Unary):
    """max(0, x), element by element."""


class Softplus(Unary):
    """log(1 + exp(x)), element by element."""

    since = 1


class Softsign(Unary):
    """x / (1 + abs(x)), element by element."""

    since = 1


class Cos(Unary):
    """The cosine, element by element."""

    since = 7


class Tan(Unary):
    """The tangent, element by element."""

    since = 7


class Asin(Unary):
    """The inverse sine, element by element."""

    since = 7


class Acos(Unary):
    """The inverse cosine, element by element."""

    since = 7


class Atan(Unary):
    """The inverse tangent, element by element."""

    since = 7


class Sinh(Unary):
    """The hyperbolic sine, element by element."""

    since = 9


class Cosh(Unary):
    """The hyperbolic cosine, element by element."""

    since = 9


class Asinh(Unary):
    """The inverse hyperbolic sine, element by element."""

    since = 9


class Acosh(Unary):
    """The inverse hyperbolic cosine, element by element."""

    since = 9


class Atanh(Unary):
    """The inverse hyperbolic tangent, element by element."""

    since = 9


class Erf(Unary):
    """The error function, element by element."""


class Sign(Unary):
    """-1, 0 or 1, the sign of each element."""


class Floor(Unary):
    """The largest integer that is not larger, element by element."""


class Ceil(Unary):
    """The smallest integer that is not smaller, element by element."""


class Round(Unary):
    """The nearest integer, halves to the even one, element by element."""

    since = 11


class Add(Binary):
    """A + B, with broadcasting."""


class Sub(Binary):
    """A - B, with broadcasting."""


class Mul(Binary):
    """A · B, with broadcasting."""


class Div(Binary):
    """A / B, with broadcasting; integers are truncated towards zero."""


class Pow(Binary):
    """A to the power of B, with broadcasting."""


class EluAttributes(Attributes):
    """Attributes of Elu: alpha."""

    alpha: float = 1.0


class Elu(Unary):
    """x where it is positive, else alpha · (exp(x) - 1)."""

    since = 6
    attributes: EluAttributes = EluAttributes.defaults()


class SeluAttributes(Attributes):
    """Attributes of Selu: alpha and gamma."""

    alpha: float = 1.67326319217681884765625
    gamma: float = 1.05070102214813232421875


class Selu(Unary):
    """gamma · x where x is positive, else gamma · alpha · (exp(x) - 1)."""

    since = 6
    attributes: SeluAttributes = SeluAttributes.defaults()


class LeakyReluAttributes(Attributes):
    """Attributes of LeakyRelu: alpha, the slope where x is negative."""

    alpha: float = 0.01


class LeakyRelu(Unary):
    """x where it is not negative, else alpha · x."""

    since = 6
    attributes: LeakyReluAttributes = LeakyReluAttributes.defaults()


_SAME: dict[str, type[Node]] = {
    "sigmoid": Sigmoid,
    "tanh": Tanh,
    "exp": Exp,
    "log": Log,
    "sin": Sin,
    "sqrt": Sqrt,
    "abs": Abs,
    "neg": Neg,
    "reciprocal": Reciprocal,
    "relu": Relu,
    "softplus": Softplus,
    "softsign": Softsign,
    "add": Add,
    "sub": Sub,
    "mul": Mul,
    "div": Div,
    "pow": Pow,
    "cos": Cos,
    "tan": Tan,
    "asin": Asin,
    "acos": Acos,
    "atan": Atan,
    "sinh": Sinh,
    "cosh": Cosh,
    "asinh": Asinh,
    "acosh": Acosh,
    "atanh": Atanh,
    "erf": Erf,
    "sign": Sign,
    "floor": Floor,
    "ceil": Ceil,
    "round": Round,
}
_WITH_ATTRIBUTES: dict[str, tuple[type[Node], tuple[str, ...]]] = {
    "elu": (Elu, ("alpha",)),
    "selu": (Selu, ("alpha", "gamma")),
    "leaky_relu": (LeakyRelu, ("alpha",)),
}


# --- to nodes ------------------------------------------------------------------------------------


@emits(*_SAME)
def emit_same(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit the operator that computes a primitive without parameters."""
    return Emission(_SAME[part.op], [emitter.operand(arg) for arg in part.args], {})


@emits(*_WITH_ATTRIBUTES)
def emit_with_attributes(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit the operator of a primitive whose constant parameters are attributes."""
    operator, names = _WITH_ATTRIBUTES[part.op]
    values = [arg.value for arg in part.args[1:]]
    return Emission(
        operator, [emitter.operand(part.args[0])], dict(zip(names, values, strict=True))
    )


# --- to formulas ---------------------------------------------------------------------------------
