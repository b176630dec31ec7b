"""Arithmetic that is no formula of one tensor: a constant for each element, or two tensors.

A constant for each element is the bias, the response or the weights of neurons; two tensors are
neurons that add or multiply them.
"""

from collections.abc import Callable, Sequence

import numpy as np

from neat_onnx.lifting.context import Array, Layer, LiftingContext, Operand, Value
from neat_onnx.model import Node
from neat_onnx.network.expression import VARIABLE, call, constant, scalar_slope
from neat_onnx.network.genes import Floats


def combined(ctx: LiftingContext, node: Node, primitive: str, operands: Sequence[Operand]) -> Value:
    """`primitive` of operands at least one of which is computed.

    Raises:
        ModelError: no neuron computes it.
    """
    if primitive not in _RULES:
        ctx.fail(
            node,
            "it combines tensors in a way that no neuron computes",
            hint="If it is part of an activation of your own, register that with "
            "neat_onnx.register_activation",
        )
    one, other = operands
    return _RULES[primitive](ctx, node, one, other)


def _multiply(ctx: LiftingContext, node: Node, one: Operand, other: Operand) -> Value:
    if isinstance(one, Value) and isinstance(other, Value):
        signals, gate = np.broadcast_arrays(ctx.settle(one), ctx.settle(other))
        return Value(signals, gate=gate)
    if isinstance(one, Value):
        return _scale(ctx, node, one, np.asarray(other), 0)
    assert isinstance(other, Value)
    return _scale(ctx, node, other, one, 1)


def _divide(ctx: LiftingContext, node: Node, one: Operand, other: Operand) -> Value:
    """By a constant for each element: a mean, where it is the number of inputs."""
    if not isinstance(one, Value) or isinstance(other, Value):
        ctx.fail(node, "it divides by something that is not constant")
    layer = ctx.layer_of(node, 0) if one.plain else None
    if layer is not None:
        divisor = np.broadcast_to(other, one.shape).ravel()
        fresh = not np.any(layer.bias) and bool(np.all(layer.response == 1))
        if fresh and np.array_equal(divisor, _fan_in(ctx, layer)):
            layer.aggregation = ["mean"] * len(layer.states)
            layer.tensor = node.output[0]
            return one
    return _scale(ctx, node, one, 1.0 / other, 0)


def _fan_in(ctx: LiftingContext, layer: Layer) -> Floats:
    counts = np.zeros(len(layer.states))
    for link in ctx.links:
        inside = link.target[np.isin(link.target, layer.states)]
        counts += np.bincount(inside - layer.states[0], minlength=len(counts))
    return counts


def _scale(ctx: LiftingContext, node: Node, value: Value, factor: Array, position: int) -> Value:
    """The response of the layer that is read, or the weights of what reads this.

    A factor without axes is a slope, which is a part of the activation.
    """
    if factor.ndim == 0 and value.plain:
        return Value(value.signals, call("mul", constant(float(factor)), VARIABLE))
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


def _add(ctx: LiftingContext, node: Node, one: Operand, other: Operand) -> Value:
    if isinstance(one, Value) and isinstance(other, Value):
        return _merged(ctx, node, one, other) or neurons_of(
            ctx, node, [one, other], "sum", (1.0, 1.0)
        )
    if isinstance(one, Value):
        return _shift(ctx, node, one, np.asarray(other), 0)
    assert isinstance(other, Value)
    return _shift(ctx, node, other, one, 1)


def _merged(ctx: LiftingContext, node: Node, one: Value, other: Value) -> Value | None:
    """One layer that sums what two would, if nothing else reads them: a recurrent layer's parts."""
    layers = [ctx.layer_of(node, 0), ctx.layer_of(node, 1)]
    if layers[0] is None or layers[1] is None or one.shape != other.shape:
        return None
    sums = all(set(layer.aggregation) == {"sum"} for layer in layers if layer)
    plain = all(bool(np.all(layer.response == 1)) for layer in layers if layer)
    linear = one.formula == other.formula and scalar_slope(one.formula)[1] == VARIABLE
    spatial = any(layer.spatial for layer in layers if layer)
    if spatial or not (sums and plain and linear):
        return None
    ctx.merge(layers[0], layers[1])
    layers[0].tensor = node.output[0]
    return one


def _shift(ctx: LiftingContext, node: Node, value: Value, addend: Array, position: int) -> Value:
    """The bias of the layer that is read, or of new neurons."""
    shape = np.broadcast_shapes(value.shape, addend.shape)
    layer = ctx.layer_of(node, position) if value.plain else None
    if layer is None or shape != value.shape:
        value = neurons_of(ctx, node, [value], "sum", (1.0,), shape)
        layer = ctx.layers[-1]
    flat = np.broadcast_to(addend, shape).ravel()
    layer.bias = np.where(layer.bias == 0, flat, layer.bias + flat)
    layer.tensor = node.output[0]
    return value


def _subtract(ctx: LiftingContext, node: Node, one: Operand, other: Operand) -> Value:
    if isinstance(one, Value) and isinstance(other, Value):
        return neurons_of(ctx, node, [one, other], "sum", (1.0, -1.0))
    if isinstance(one, Value):
        return _shift(ctx, node, one, -np.asarray(other), 0)
    assert isinstance(other, Value)
    shape = np.broadcast_shapes(one.shape, other.shape)
    negated = neurons_of(ctx, node, [other], "sum", (-1.0,), shape)
    ctx.layers[-1].bias += np.broadcast_to(one, shape).ravel()
    return negated


def neurons_of(
    ctx: LiftingContext,
    node: Node,
    operands: Sequence[Value],
    aggregation: str,
    weights: tuple[float, ...],
    shape: tuple[int, ...] = (),
) -> Value:
    """New neurons that aggregate the operands element by element, broadcast to one shape."""
    settled = [ctx.settle(operand) for operand in operands]
    shape = np.broadcast_shapes(shape, *(signals.shape for signals in settled))
    size = int(np.prod(shape))
    layer = ctx.add_neurons(node, size, aggregation=aggregation)
    for signals, weight in zip(settled, weights, strict=True):
        ctx.connect(np.broadcast_to(signals, shape), layer.states, np.full(size, weight))
    return Value(layer.states.reshape(shape))


_RULES: dict[str, Callable[[LiftingContext, Node, Operand, Operand], Value]] = {
    "mul": _multiply,
    "div": _divide,
    "add": _add,
    "sub": _subtract,
}
