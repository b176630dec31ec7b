"""The elementwise operators: activations and arithmetic, from formulas and back to them."""

import numpy as np

from neat_onnx.lifting.context import LiftingContext, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.network.expression import Expression
from neat_onnx.operators.choice import applied
from neat_onnx.operators.formula import TRUNCATED, Emission, FormulaEmitter, emits, formula_of


class _Unary(Node, abstract=True):
    since = 13


class _Binary(Node, abstract=True):
    inputs = (2, 2)
    since = 13


class Sigmoid(_Unary): ...


class Tanh(_Unary): ...


class Exp(_Unary): ...


class Log(_Unary): ...


class Sin(_Unary):
    since = 7


class Sqrt(_Unary): ...


class Abs(_Unary): ...


class Neg(_Unary): ...


class Reciprocal(_Unary): ...


class Relu(_Unary): ...


class Softplus(_Unary):
    since = 1


class Softsign(_Unary):
    since = 1


class Cos(_Unary):
    since = 7


class Tan(_Unary):
    since = 7


class Asin(_Unary):
    since = 7


class Acos(_Unary):
    since = 7


class Atan(_Unary):
    since = 7


class Sinh(_Unary):
    since = 9


class Cosh(_Unary):
    since = 9


class Asinh(_Unary):
    since = 9


class Acosh(_Unary):
    since = 9


class Atanh(_Unary):
    since = 9


class Erf(_Unary): ...


class Sign(_Unary): ...


class Floor(_Unary): ...


class Ceil(_Unary): ...


class Round(_Unary):
    since = 11


class Add(_Binary): ...


class Sub(_Binary): ...


class Mul(_Binary): ...


class Div(_Binary): ...


class Pow(_Binary): ...


class Clip(Node):
    inputs = (1, 3)
    since = 13


class EluAttributes(Attributes):
    alpha: float = 1.0


class Elu(_Unary):
    since = 6
    attributes: EluAttributes = EluAttributes.defaults()


class SeluAttributes(Attributes):
    alpha: float = 1.67326319217681884765625
    gamma: float = 1.05070102214813232421875


class Selu(_Unary):
    since = 6
    attributes: SeluAttributes = SeluAttributes.defaults()


class LeakyReluAttributes(Attributes):
    alpha: float = 0.01


class LeakyRelu(_Unary):
    since = 6
    attributes: LeakyReluAttributes = LeakyReluAttributes.defaults()


class DropoutAttributes(Attributes):
    seed: int | None = None


class Dropout(Node):
    inputs = (1, 3)
    outputs = (1, 2)
    since = 13
    attributes: DropoutAttributes = DropoutAttributes.defaults()


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
    return Emission(_SAME[part.op], [emitter.operand(arg) for arg in part.args], {})


@emits(*_WITH_ATTRIBUTES)
def emit_with_attributes(emitter: FormulaEmitter, part: Expression) -> Emission:
    operator, names = _WITH_ATTRIBUTES[part.op]
    values = [arg.value for arg in part.args[1:]]
    return Emission(
        operator, [emitter.operand(part.args[0])], dict(zip(names, values, strict=True))
    )


@emits("clip")
def emit_clip(emitter: FormulaEmitter, part: Expression) -> Emission:
    bounds = [emitter.operand(arg) if np.isfinite(arg.value) else "" for arg in part.args[1:]]
    while bounds and not bounds[-1]:
        bounds.pop()
    return Emission(Clip, [emitter.operand(part.args[0]), *bounds], {})


# --- to formulas ---------------------------------------------------------------------------------


@lifts(*(operator for operator in _SAME.values() if operator is not Div), Elu, Selu, LeakyRelu)
def lift_same(ctx: LiftingContext, node: Node) -> None:
    operands = [ctx.operand(node, position) for position in range(len(node.input))]
    primitive = _PRIMITIVE[node.op_type]
    given = node.attributes
    extra = [
        np.float64(getattr(given, name)) for name in _WITH_ATTRIBUTES.get(primitive, (0, ()))[1]
    ]
    operands += [np.asarray(value) for value in extra]
    ctx.bind(node, applied(ctx, node, primitive, operands))


@lifts(Div)
def lift_div(ctx: LiftingContext, node: Div) -> None:
    """The quotient; of integers, truncated towards zero."""
    operands = [ctx.operand(node, position) for position in range(2)]
    quotient = applied(ctx, node, "div", operands)
    if ctx.has_integers(node):
        quotient = formula_of(ctx, quotient, TRUNCATED)
    ctx.bind(node, quotient)


@lifts(Clip)
def lift_clip(ctx: LiftingContext, node: Clip) -> None:
    value = ctx.value(node, 0)
    bounds = [
        np.asarray(infinite if ctx.optional(node, at) is None else ctx.constant(node, at))
        for at, infinite in ((1, -np.inf), (2, np.inf))
    ]
    if any(bound.size != 1 for bound in bounds):
        ctx.fail(node, "its bounds have to be single numbers")
    bounds = [bound.reshape(()) for bound in bounds]
    ctx.bind(node, applied(ctx, node, "clip", [value, *bounds]))


@lifts(Dropout)
def lift_dropout(ctx: LiftingContext, node: Dropout) -> None:
    """The identity, and a mask that keeps all: in training it would be random."""
    x = ctx.operand(node, 0)
    training = ctx.optional(node, 2) is not None and np.any(ctx.constant(node, 2))
    ratio = 0.5 if ctx.optional(node, 1) is None else float(ctx.constant(node, 1).ravel()[0])
    if training and ratio > 0.0:
        ctx.fail(node, "its training_mode is true: it leaves out values at random")
    ctx.bind(node, x, np.ones(x.shape, np.bool_))
