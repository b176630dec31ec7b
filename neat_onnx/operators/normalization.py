"""BatchNormalization: a factor and a shift for each channel, which fold into what they follow."""

from dataclasses import replace
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import Layer, LiftingContext, Value, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.network.genes import Floats

_SHAPED = 2  # the batch and the channels; space may follow


class BatchNormalizationAttributes(Attributes):
    epsilon: float = 1e-5
    momentum: float = 0.9
    training_mode: Literal[0] = 0


class BatchNormalization(Node):
    """X [N, C, …], then scale, B, mean and variance, each [C]; momentum is for training only."""

    inputs = (5, 5)
    since = 9
    attributes: BatchNormalizationAttributes = BatchNormalizationAttributes.defaults()


@lifts(BatchNormalization)
def lift_batch_normalization(ctx: LiftingContext, node: BatchNormalization) -> None:
    value = ctx.value(node, 0)
    if len(value.shape) < _SHAPED:
        ctx.fail(node, f"its input has the shape {list(value.shape)}, expected batch and channels")
    channels = value.shape[1]
    scale, bias, mean, variance = (_parameter(ctx, node, k, channels) for k in range(1, 5))
    factor = scale / np.sqrt(variance + node.attributes.epsilon)
    by_channel = (channels, *[1] * (len(value.shape) - _SHAPED))
    factors, shifts = (
        np.broadcast_to(each.reshape(by_channel), value.shape).ravel()
        for each in (factor, bias - mean * factor)
    )
    layer = ctx.layer_of(node, 0) if value.plain else None
    if layer is not None and _is_linear(layer):
        _fold(ctx, layer, factors, shifts)
        layer.tensor = node.output[0]
        ctx.bind(node, value)
        return
    fresh = ctx.add_neurons(node, factors.size, bias=shifts)
    ctx.connect(ctx.settle(value).ravel(), fresh.states, factors)
    ctx.bind(node, Value(fresh.states.reshape(value.shape)))


def _parameter(ctx: LiftingContext, node: Node, position: int, channels: int) -> Floats:
    values = ctx.constant(node, position).ravel().astype(np.float64)
    if len(values) != channels:
        ctx.fail(node, f"{node.input[position]} has {len(values)} values, expected {channels}")
    return values


def _is_linear(layer: Layer) -> bool:
    return set(layer.aggregation) == {"sum"} and bool(np.all(layer.response == 1.0))


def _fold(ctx: LiftingContext, layer: Layer, factors: Floats, shifts: Floats) -> None:
    """Multiply the weights and the bias of each neuron of a layer by its factor; shift the bias."""
    first, last = int(layer.states[0]), int(layer.states[-1])
    ctx.links = [
        replace(link, weight=link.weight * factors[link.target - first])
        if link.target.size and first <= int(link.target[0]) <= last
        else link
        for link in ctx.links
    ]
    layer.bias = layer.bias * factors + shifts
