"""Mappings to blocks: an option about a level, as a claim about its neurons.

The neurons of a level and of the level before it stand in C order of channel, row and column.
"""

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.genes import Ints
from neat_onnx.network.schedule import Schedule
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.network.window import Sizes
from neat_onnx.operators.export.spatial.weights import NotShared
from neat_onnx.options.mappings import Conv2DMapping, Pool2DMapping


def mapped_convolution(
    ctx: LoweringContext, plan: Schedule, mapping: Conv2DMapping
) -> SpatialBlock:
    """The block that a mapping claims.

    Raises:
        NotShared: the sizes contradict the network's levels.
    """
    sources = (mapping.in_channels, mapping.in_height, mapping.in_width)
    neurons = (mapping.out_channels, mapping.out_height, mapping.out_width)
    level = mapping.layer_index
    return SpatialBlock(
        "Conv",
        _level(ctx, plan, level - 1, sources, "in"),
        _level(ctx, plan, level, neurons, "out"),
        mapping.window,
        mapping.groups,
    )


def mapped_pool(
    ctx: LoweringContext, plan: Schedule, mapping: Pool2DMapping, known: dict[int, Sizes]
) -> SpatialBlock:
    """The block that a mapping claims.

    Args:
        known: the shapes of levels that other mappings tell of.

    Raises:
        NotShared: the pooled level's shape is not known, or not that of the network's level.
    """
    level = mapping.after_layer_index
    shape = _given_shape(mapping) or known.get(level)
    if shape is None or len(shape) != 3:
        raise NotShared(f"nothing tells the channels, height and width of layer {level}")
    window = mapping.window
    positions = (shape[0], *window.positions(shape[1:]))
    return SpatialBlock(
        mapping.type,
        _level(ctx, plan, level, shape, "in"),
        _level(ctx, plan, level + 1, positions, "out"),
        window,
        count_padding=mapping.count_include_pad and mapping.type == "AveragePool",
    )


def _given_shape(mapping: Pool2DMapping) -> Sizes | None:
    channels, height, width = mapping.in_channels, mapping.in_height, mapping.in_width
    if channels is None or height is None or width is None:
        return None
    return channels, height, width


def _level(ctx: LoweringContext, plan: Schedule, level: int, shape: Sizes, side: str) -> Ints:
    """The neurons of a level in their order, in that shape."""
    if level > plan.depth:
        raise NotShared(f"there is no layer {level}, the last one is {plan.depth}")
    neurons = ctx.net.input_neurons if level == 0 else _in_order(ctx, plan.levels[level])
    wanted = shape[0] * shape[1] * shape[2]
    if len(neurons) != wanted:
        channels, height, width = shape
        raise NotShared(
            f"{side}Channels·{side}Height·{side}Width is {channels}·{height}·{width} = {wanted}, "
            f"but layer {level} has {len(neurons)} neurons"
        )
    return neurons.reshape(shape)


def _in_order(ctx: LoweringContext, neurons: Ints) -> Ints:
    """Outputs in the order of their ports, others in that of the genome."""
    outputs = ctx.net.output_neurons
    if not np.all(np.isin(neurons, outputs)):
        return neurons
    first = np.sort(np.unique(outputs, return_index=True)[1])
    ordered: Ints = outputs[first]
    return ordered[np.isin(ordered, neurons)]
