"""Arithmetic that is no formula of one tensor: a constant for each element, or several tensors.

A constant for each element is the bias, the response or the weights of neurons; several tensors are
neurons that add or multiply them, or take the largest.
"""

from collections.abc import Callable, Sequence

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, NewNeurons, Operand, Value
from neat_onnx.model import Node
from neat_onnx.network.expression import VARIABLE, call, constant, scalar_slope
from neat_onnx.network.genes import Ints, distinct

_Rule = Callable[[LiftingContext, Node, Operand, Operand], Value]


def multiply(ctx: LiftingContext, node: Node, one: Operand, other: Operand) -> Value:
    """The product: a gate, or weights.

    A gated value keeps weights that are powers of two: its readers multiply theirs by them exactly.
    """
    if isinstance(one, Value) and isinstance(other, Value):
        value, factor = (
            _term(ctx, one, "sum") if has_powers_of_two(one) else (ctx.materialize(one), None)
        )
        signals, gate = np.broadcast_arrays(value, ctx.materialize(other))
        ctx.check_size(node, signals.size)
        weight = None if factor is None else np.broadcast_to(factor, signals.shape)
        return Value(signals, weight=weight, gate=gate)
    if isinstance(one, Value):
        return _scale(ctx, node, one, np.asarray(other))
    assert isinstance(other, Value)
    return _scale(ctx, node, other, np.asarray(one))


def has_powers_of_two(value: Value) -> bool:
    """Whether the value is signals times powers of two, and no more."""
    return _is_weighed(value) and bool(np.all(np.abs(np.frexp(value.weights)[0]) == 0.5))


def divide(ctx: LiftingContext, node: Node, one: Operand, other: Operand) -> Value:
    """The quotient: a gate by a reciprocal; a mean, where the divisor is the number of inputs."""
    if isinstance(other, Value):
        divisor = Value(ctx.materialize(other), call("reciprocal", VARIABLE))
        return multiply(ctx, node, one, divisor)
    assert isinstance(one, Value)
    made = _made(one)
    if made is not None and np.broadcast_shapes(np.shape(other), one.shape) == one.shape:
        divisors = np.broadcast_to(other, one.shape).ravel()
        counted = np.all(divisors == divisors[:1]) and np.array_equal(divisors, made.fan_in)
        if counted and made.is_plain_sum and not np.any(made.bias):
            made.aggregation = "mean"
            return one
    return _scale(ctx, node, one, 1.0 / np.asarray(other, np.float64))


def _scale(ctx: LiftingContext, node: Node, value: Value, factor: Array) -> Value:
    """The response of the neurons that are read, or the weights of their readers.

    A factor without axes is a slope, which is a part of the activation.
    """
    if factor.ndim == 0 and value.plain:
        made = value.made
        return Value(value.signals, call("mul", constant(float(factor)), VARIABLE), made=made)
    shape = np.broadcast_shapes(value.shape, factor.shape)
    ctx.check_size(node, int(np.prod(shape, dtype=object)))
    factor = np.broadcast_to(factor, shape).astype(np.float64)
    made = _made(value) if shape == value.shape else None
    if made is not None and not made.spatial and made.takes(factor.ravel()):
        made.response = made.response * factor.ravel()
        made.bias = made.bias * factor.ravel()
        return value
    gated = value.gate is not None and value.unweighted
    if gated and node.op_type == "Mul" and shape == value.shape and np.all(factor == 1.0):
        return value  # gates of an aggregation, whose weights are all 1
    if _is_weighed(value) and np.all(np.abs(factor) == 1.0):  # exact: the weights change sign
        signals = np.broadcast_to(value.signals, shape)
        return Value(signals, VARIABLE, np.broadcast_to(value.weights, shape) * factor)
    signals = value.signals if value.plain else ctx.materialize(value)
    return Value(np.broadcast_to(signals, shape), VARIABLE, factor)


def _made(value: Value) -> NewNeurons | None:
    """The neurons of a value that is them, or c times them; other factors may stand before c."""
    linear = value.elementwise and scalar_slope(value.formula)[1] == VARIABLE
    return value.made if linear else None


def add(ctx: LiftingContext, node: Node, one: Operand, other: Operand) -> Value:
    """The sum: a bias, or neurons."""
    if isinstance(one, Value) and isinstance(other, Value):
        return (
            _merged(ctx, one, other)
            or _with_gated(ctx, node, one, other)
            or _with_gated(ctx, node, other, one)
            or _with_another(ctx, one, other)
            or _with_another(ctx, other, one)
            or neurons_of(ctx, node, [one, other], weights=(1.0, 1.0))
        )
    if isinstance(one, Value):
        return _shift(ctx, node, one, np.asarray(other))
    assert isinstance(other, Value)
    return _shift(ctx, node, other, np.asarray(one))


def _merged(ctx: LiftingContext, one: Value, other: Value) -> Value | None:
    """Neurons that sum the inputs of two others, if nothing else reads these: a recurrent layer's
    parts.
    """
    both = one.made, other.made
    if both[0] is None or both[1] is None or both[0] is both[1] or one.shape != other.shape:
        return None
    plain = all(made.takes_inputs for made in both if made)
    linear = one.formula == other.formula and scalar_slope(one.formula)[1] == VARIABLE
    whole = all(value.weight is None and value.gate is None for value in (one, other))
    if not (plain and linear and whole):
        return None
    ctx.merge(both[0], both[1])
    return one


def _with_gated(ctx: LiftingContext, node: Node, one: Value, other: Value) -> Value | None:
    """The neurons of `one` with the gated connections of `other` added, if nothing reads that.

    A product that is handed on past a layer and added to its result is no part of the layer.
    """
    if any(len(ctx.wiring.operators_reading(name)) > 1 for name in node.input):
        return None
    made, gate = one.made, other.gate
    if made is None or gate is None or not one.plain or one.shape != other.shape:
        return None
    if not made.takes_inputs or not other.linear or other in ctx.materialized:
        return None
    if any(np.any(np.isin(other.signals, each.source)) for each in made.connections):
        return None  # the connections would be parallel ones
    ctx.connect(made, other.signals, np.arange(other.signals.size), other.weights, gate)
    return one


def _with_another(ctx: LiftingContext, one: Value, other: Value) -> Value | None:
    """The neuron of `one` with `other` as one more input, if nothing reads it without that.

    Exporters of evolved networks add up the inputs of a neuron one by one.
    """
    made, (slope, core) = one.made, scalar_slope(other.formula)
    if made is None or made.signals.size != 1 or not one.plain or one.shape != other.shape:
        return None
    linear = core == VARIABLE and not other.reduced and other.gate is None
    if not made.takes_inputs or not linear or other in ctx.materialized:
        return None
    if any(np.any(each.source == other.signals.ravel()) for each in made.connections):
        return None  # the connections would be parallel ones
    signals = ctx.materialize(Value(other.signals))
    ctx.connect(made, signals, np.zeros(1, np.int64), slope * other.weights)
    return one


def _shift(ctx: LiftingContext, node: Node, value: Value, addend: Array) -> Value:
    """The bias of the neurons that are read, or of new ones."""
    value = _with_slope_as_response(value)
    shape = np.broadcast_shapes(value.shape, addend.shape)
    flat = np.broadcast_to(addend, shape).ravel()
    made = value.made if value.plain and shape == value.shape else None
    if made is None or not made.takes(flat) or not _stays_spatial(value, addend):
        value = _scaled_neurons(ctx, node, value, shape)
    made = value.made
    assert made is not None
    made.bias = np.where(made.bias == 0, flat, made.bias + flat)
    return value


def _scaled_neurons(ctx: LiftingContext, node: Node, value: Value, shape: tuple[int, ...]) -> Value:
    """New neurons of one input each; c of the value's formula c · z is the weight of it."""
    slope, core = scalar_slope(value.formula)
    if not value.elementwise or core != VARIABLE or value in ctx.materialized:
        return neurons_of(ctx, node, [value], shape=shape)
    return neurons_of(ctx, node, [Value(value.signals)], weights=(slope,), shape=shape)


def _with_slope_as_response(value: Value) -> Value:
    """The value with c of its formula c · z as the response of the neurons that it follows."""
    slope, core = scalar_slope(value.formula)
    made = value.made
    if made is None or not value.elementwise or core != VARIABLE:
        return value
    if made.spatial and made.aggregation != "sum":
        return value
    made.response, made.bias = made.response * slope, made.bias * slope
    return Value(value.signals, made=made)


def _stays_spatial(value: Value, addend: Array) -> bool:
    """Whether neurons that slide a window still do with this bias: one for each channel of sums."""
    if value.made is None or not value.made.spatial:
        return True
    by_channel = np.broadcast_to(addend, value.shape)
    by_channel = by_channel.reshape(*value.shape[:2], -1)
    return value.made.aggregation == "sum" and bool(np.all(by_channel == by_channel[..., :1]))


def subtract(ctx: LiftingContext, node: Node, one: Operand, other: Operand) -> Value:
    """The difference: a bias, or neurons."""
    if isinstance(one, Value) and isinstance(other, Value):
        return neurons_of(ctx, node, [one, other], weights=(1.0, -1.0))
    if isinstance(one, Value):
        if np.asarray(other).dtype.kind == "b":
            ctx.fail(node, "it does not take constants of this type")
        return _shift(ctx, node, one, -np.asarray(other))
    assert isinstance(other, Value)
    shape = np.broadcast_shapes(np.shape(one), other.shape)
    negated = neurons_of(ctx, node, [other], weights=(-1.0,), shape=shape)
    assert negated.made is not None
    negated.made.bias += np.broadcast_to(one, shape).ravel()
    return negated


def largest(ctx: LiftingContext, node: Node, one: Operand, other: Operand) -> Value:
    """Neurons that take the largest."""
    return _extreme(ctx, node, one, other, "max")


def smallest(ctx: LiftingContext, node: Node, one: Operand, other: Operand) -> Value:
    """Neurons that take the smallest."""
    return _extreme(ctx, node, one, other, "min")


def _extreme(
    ctx: LiftingContext, node: Node, one: Operand, other: Operand, aggregation: str
) -> Value:
    values = [ctx.as_value(node, each) for each in (one, other)]
    return neurons_of(ctx, node, values, aggregation, (1.0, 1.0))


def neurons_of(
    ctx: LiftingContext,
    node: Node,
    operands: Sequence[Value],
    aggregation: str = "sum",
    weights: tuple[float, ...] = (1.0,),
    shape: tuple[int, ...] = (),
) -> Value:
    """New neurons that aggregate the operands element by element, broadcast to one shape."""
    gates = _gates(ctx, operands) if aggregation == "sum" else [None] * len(operands)
    terms = [
        _term(ctx, operand, aggregation) if gate is None else (operand.signals, operand.weights)
        for operand, gate in zip(operands, gates, strict=True)
    ]
    shape = np.broadcast_shapes(shape, *(signals.shape for signals, _ in terms))
    size = int(np.prod(shape, dtype=object))
    ctx.check_size(node, size)
    made = ctx.add_neurons(size, aggregation=aggregation)
    for (signals, factor), gate, weight in zip(terms, gates, weights, strict=True):
        each = np.broadcast_to(factor * weight, shape)
        gain = None if gate is None else np.broadcast_to(gate, shape)
        ctx.connect(made, np.broadcast_to(signals, shape), np.arange(size), each, gain)
    return value_of(made, shape)


def _gates(ctx: LiftingContext, operands: Sequence[Value]) -> list[Ints | None]:
    """The gates of each operand of a sum of products, as a cell's state is one; else None.

    Products that something has read are neurons already. Where two have an element in common, the
    connections from it would be parallel ones.
    """
    gates = [
        each.gate if each.linear and each not in ctx.materialized else None for each in operands
    ]
    if len(operands) > 1 and all(gate is not None for gate in gates):
        sources = np.concatenate([each.signals.ravel() for each in operands])
        if len(distinct(sources)) == len(sources):
            return gates
    return [None] * len(operands)


def _term(ctx: LiftingContext, value: Value, aggregation: str) -> tuple[Ints, Array]:
    """The signals that neurons read for a value, and a factor of each: in a sum it is a weight."""
    if aggregation == "sum" and _is_weighed(value):
        return ctx.materialize(Value(value.signals)), value.weights
    return ctx.materialize(value), np.ones(())


def _is_weighed(value: Value) -> bool:
    """Whether the value is signals times weights, and no more."""
    return value.linear and value.gate is None and value.weight is not None


def value_of(made: NewNeurons, shape: tuple[int, ...]) -> Value:
    """The pre-activations of new neurons as a tensor of this shape."""
    return Value(made.signals.reshape(shape), made=made)


RULES: dict[str, _Rule] = {
    "mul": multiply,
    "div": divide,
    "add": add,
    "sub": subtract,
    "maximum": largest,
    "minimum": smallest,
}
