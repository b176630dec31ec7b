"""The elementwise operators: activations and arithmetic, from formulas and back to them."""

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Value, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.network.expression import Expression
from neat_onnx.operators.formulas.choice import applied
from neat_onnx.operators.formulas.formula import (
    Emission,
    FormulaEmitter,
    apply_formula,
    emits,
)
from neat_onnx.operators.formulas.integers import truncated, truncated_quotient
from neat_onnx.operators.formulas.nodes import Binary, Unary
from neat_onnx.operators.formulas.not_finite import special
from neat_onnx.operators.formulas.rounded import rounded_quotient


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

    exact = True


class Neg(Unary):
    """-x, element by element."""

    exact = True


class Reciprocal(Unary):
    """1 / x, element by element."""


class Relu(Unary):
    """max(0, x), element by element."""

    exact = True


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

    exact = True


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
_PRIMITIVE = {operator.__name__: primitive for primitive, operator in _SAME.items()}
_PRIMITIVE |= {operator.__name__: name for name, (operator, _) in _WITH_ATTRIBUTES.items()}


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


@lifts(
    *(operator for operator in _SAME.values() if operator not in (Div, Pow)),
    Elu,
    Selu,
    LeakyRelu,
    infinite=True,
)
def lift_same(ctx: LiftingContext, node: Node) -> None:
    """Lift an operator that is one primitive, with its attributes as constant parameters."""
    operands = [ctx.operand(node, position) for position in range(len(node.input))]
    if isinstance(node, Mul) and ctx.has_integers(node):
        for one, other in zip(operands, reversed(operands), strict=True):
            if not isinstance(one, Value) and not np.any(one):  # an integer is finite
                ctx.bind(node, np.zeros(ctx.broadcast(node, one.shape, other.shape), np.int64))
                return
    primitive = _PRIMITIVE[node.op_type]
    given = node.attributes
    extra = [
        np.float64(getattr(given, name)) for name in _WITH_ATTRIBUTES.get(primitive, (0, ()))[1]
    ]
    operands += [np.asarray(value) for value in extra]
    ctx.bind(node, applied(ctx, node, primitive, operands))


@lifts(Pow, infinite=True)
def lift_pow(ctx: LiftingContext, node: Pow) -> None:
    """The power; of integers, truncated towards zero where it may have a fraction."""
    base, exponent = (ctx.operand(node, position) for position in range(2))
    if ctx.guarded and _are_computed(ctx, node) and not ctx.is_integer(node.input[0]):
        from neat_onnx.operators.formulas.computed_powers import (  # noqa: PLC0415 - of few models
            computed_power,
        )

        alone = apply_formula(ctx, node, "pow", [base, exponent])  # of one number
        ctx.bind(node, computed_power(ctx, node, base, exponent) if alone is None else alone)
        return
    power = applied(ctx, node, "pow", [base, exponent])
    if isinstance(exponent, Value) or np.any((exponent < 0) | (exponent % 1 != 0)):
        power = truncated(ctx, node, power)
    ctx.bind(node, power)


def _are_computed(ctx: LiftingContext, node: Node) -> bool:
    """Whether all inputs of a node are computed, and no element of them is an infinite constant."""
    operands = [ctx.operand(node, position) for position in range(len(node.input))]
    return all(isinstance(each, Value) and special(ctx, each) is None for each in operands)


@lifts(Div)
def lift_div(ctx: LiftingContext, node: Div) -> None:
    """The quotient; of integers, truncated towards zero."""
    operands = [ctx.operand(node, position) for position in range(2)]
    if not ctx.has_integers(node):
        exact = rounded_quotient(ctx, node, *operands)
        ctx.bind(node, applied(ctx, node, "div", operands) if exact is None else exact)
        return
    quotient = truncated_quotient(ctx, node, *operands)
    ctx.bind(node, quotient if isinstance(quotient, Value) else quotient.astype(np.int64))
