"""The elementwise operators: activations and arithmetic, from formulas and back to them."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from neat_onnx.lifting import Array, LiftingContext, Operand, Value, lifts
from neat_onnx.model import Attributes, DataType, Node
from neat_onnx.network.expression import PRIMITIVES, VARIABLE, Expression, clip, constant
from neat_onnx.operators.formula import Emission, FormulaEmitter, apply_formula, emits


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


class Add(_Binary): ...


class Sub(_Binary): ...


class Mul(_Binary): ...


class Div(_Binary): ...


class Greater(_Binary): ...


class Equal(_Binary): ...


class Where(Node):
    inputs = (3, 3)
    since = 9


class Clip(Node):
    inputs = (1, 3)
    since = 13


class EluAttributes(Attributes):
    alpha: float = 1.0


class Elu(_Unary):
    since = 6
    attributes: EluAttributes = EluAttributes()


class SeluAttributes(Attributes):
    alpha: float = 1.67326319217681884765625
    gamma: float = 1.05070102214813232421875


class Selu(_Unary):
    since = 6
    attributes: SeluAttributes = SeluAttributes()


class LeakyReluAttributes(Attributes):
    alpha: float = 0.01


class LeakyRelu(_Unary):
    since = 6
    attributes: LeakyReluAttributes = LeakyReluAttributes()


class CastAttributes(Attributes):
    to: Literal[1, 11]


class Cast(_Unary):
    attributes: CastAttributes


class DropoutAttributes(Attributes):
    seed: int | None = None


class Dropout(Node):
    inputs = (1, 3)
    outputs = (1, 2)
    since = 13
    attributes: DropoutAttributes = DropoutAttributes()


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
    "greater": Greater,
    "equal": Equal,
    "where": Where,
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


@emits("number")
def emit_number(emitter: FormulaEmitter, part: Expression) -> Emission:
    return Emission(Cast, [emitter.operand(part.args[0])], {"to": int(emitter.ctx.data_type)})


# --- to formulas ---------------------------------------------------------------------------------


@lifts(*_SAME.values(), Elu, Selu, LeakyRelu)
def lift_same(ctx: LiftingContext, node: Node) -> None:
    operands = [ctx.operand(node, position) for position in range(len(node.input))]
    primitive = _PRIMITIVE[node.op_type]
    given = node.attributes
    extra = [np.float64(getattr(given, name)) for name in _WITH_ATTRIBUTES.get(primitive, (0, ()))[1]]
    operands += [np.asarray(value) for value in extra]
    if not any(isinstance(operand, Value) for operand in operands):
        with np.errstate(all="ignore"):
            ctx.bind(node, np.asarray(PRIMITIVES[primitive](*operands)))
        return
    lifted = apply_formula(ctx, node, primitive, operands)
    if lifted is None:
        lifted = _PER_NEURON.get(primitive, _unsupported)(ctx, node, operands)
    ctx.bind(node, lifted)


@lifts(Clip)
def lift_clip(ctx: LiftingContext, node: Clip) -> None:
    value = ctx.value(node, 0)
    low, high = (
        infinite if ctx.optional(node, position) is None else float(ctx.constant(node, position))
        for position, infinite in ((1, -np.inf), (2, np.inf))
    )
    formula = clip(value.formula, low, high)
    ctx.bind(node, Value(value.signals, formula, value.weight, value.reduced))


@lifts(Cast)
def lift_cast(ctx: LiftingContext, node: Cast) -> None:
    operand = ctx.operand(node, 0)
    if not isinstance(operand, Value):
        ctx.bind(node, operand.astype(np.float64))
    elif operand.formula.op in ("greater", "equal"):
        ctx.bind(node, apply_formula(ctx, node, "number", [operand]) or operand)
    else:
        ctx.bind(node, operand)


@lifts(Dropout)
def lift_dropout(ctx: LiftingContext, node: Dropout) -> None:
    ctx.bind(node, ctx.operand(node, 0))


# --- a constant for each element, or two tensors: neurons ----------------------------------------


def _multiply(ctx: LiftingContext, node: Node, operands: list[Operand]) -> Value:
    """A constant for each element: the response of the layer that is read, or a weight."""
    one, other = operands
    if isinstance(one, Value) and isinstance(other, Value):
        return _combine(ctx, node, operands, "product", (1.0, 1.0))
    value, factor = (one, other) if isinstance(one, Value) else (other, one)
    assert isinstance(value, Value) and not isinstance(factor, Value)
    return _scale(ctx, node, value, factor, int(not isinstance(one, Value)))


def _divide(ctx: LiftingContext, node: Node, operands: list[Operand]) -> Value:
    """By a constant for each element: a mean, where it is the number of inputs."""
    value, count = operands
    if not isinstance(value, Value) or isinstance(count, Value):
        _unsupported(ctx, node, operands)
    layer = ctx.layer_of(node, 0) if value.plain else None
    if layer is not None:
        inputs = np.zeros(len(layer.states))
        for link in ctx.links:
            inside = np.isin(link.target, layer.states)
            np.add.at(inputs, link.target[inside] - layer.states[0], 1.0)
        divisor = np.broadcast_to(count, value.shape).ravel()
        if np.array_equal(divisor, inputs) and not np.any(layer.bias) and np.all(layer.response == 1):
            layer.aggregation = ["mean"] * len(layer.states)
            layer.tensor = node.output[0]
            return value
    return _scale(ctx, node, value, 1.0 / count, 0)


def _scale(ctx: LiftingContext, node: Node, value: Value, factor: Array, position: int) -> Value:
    shape = np.broadcast_shapes(value.shape, factor.shape)
    factor = np.broadcast_to(factor, shape)
    layer = ctx.layer_of(node, position) if value.plain and shape == value.shape else None
    if layer is not None:
        layer.response = layer.response * factor.ravel()
        layer.bias = layer.bias * factor.ravel()
        layer.tensor = node.output[0]
        return value
    signals = value.signals if value.plain else ctx.settle(value)
    return Value(np.broadcast_to(signals, shape), VARIABLE, factor)


def _add(ctx: LiftingContext, node: Node, operands: list[Operand]) -> Value:
    """A constant for each element: the bias of the layer that is read, or of new neurons."""
    one, other = operands
    if isinstance(one, Value) and isinstance(other, Value):
        return _combine(ctx, node, operands, "sum", (1.0, 1.0))
    value, addend = (one, other) if isinstance(one, Value) else (other, one)
    assert isinstance(value, Value) and not isinstance(addend, Value)
    shape = np.broadcast_shapes(value.shape, addend.shape)
    layer = ctx.layer_of(node, int(not isinstance(one, Value))) if value.plain else None
    if layer is None or shape != value.shape:
        value = _combine(ctx, node, [value], "sum", (1.0,))
        layer = ctx.layers[-1]
    flat = np.broadcast_to(addend, shape).ravel()
    layer.bias = np.where(layer.bias == 0, flat, layer.bias + flat)
    layer.tensor = node.output[0]
    return value


def _subtract(ctx: LiftingContext, node: Node, operands: list[Operand]) -> Value:
    one, other = operands
    if isinstance(one, Value) and isinstance(other, Value):
        return _combine(ctx, node, operands, "sum", (1.0, -1.0))
    if isinstance(one, Value):
        return _add(ctx, node, [one, -np.asarray(other)])
    assert isinstance(other, Value)
    negated = _combine(ctx, node, [other], "sum", (-1.0,))
    ctx.layers[-1].bias += np.broadcast_to(one, negated.shape).ravel()
    return negated


def _combine(
    ctx: LiftingContext,
    node: Node,
    operands: list[Operand],
    aggregation: str,
    weights: tuple[float, ...],
) -> Value:
    """New neurons that aggregate the operands, element by element."""
    settled = [ctx.settle(operand) for operand in operands if isinstance(operand, Value)]
    shape = np.broadcast_shapes(*(signals.shape for signals in settled))
    size = int(np.prod(shape))
    layer = ctx.add_neurons(node, size, aggregation=aggregation)
    for signals, weight in zip(settled, weights, strict=True):
        ctx.connect(np.broadcast_to(signals, shape), layer.states, np.full(size, weight))
    return Value(layer.states.reshape(shape))


def _unsupported(ctx: LiftingContext, node: Node, operands: list[Operand]) -> Value:
    ctx.fail(node, "it combines tensors in a way that no neuron computes")


_PER_NEURON: dict[str, Callable[[LiftingContext, Node, list[Operand]], Value]] = {
    "mul": _multiply,
    "div": _divide,
    "add": _add,
    "sub": _subtract,
}
