"""Conv, ConvTranspose and the pools: neurons that share the weights of one window, or take the
largest or the mean of it.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.network.activations import activation_named
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.operators.export.activate import groups_of, slopes
from neat_onnx.operators.export.columns import flat_tensor, in_shape
from neat_onnx.operators.export.formula import emit_formula
from neat_onnx.operators.export.spatial.weights import Unavailable, Weights

_DILATED_AVERAGE_SINCE = 19
_LATE_STARTS_SINCE = 22


def lower_convolution(
    ctx: LoweringContext, block: Block, spatial: SpatialBlock, weights: Weights
) -> None:
    """Write Conv or ConvTranspose, the activation, and the layout that later levels read."""
    sums = _sums(ctx, block, spatial, weights)
    group = groups_of(ctx, block.neurons)[0]
    layer = emit_formula(ctx, group.formula, sums, *block.names("Layer", "act_conv"))
    neurons, flat = spatial.neurons, block.names("Flat", "flatten")
    _bind(ctx, block, sums, Columns(layer, neurons.ravel(), block.level, neurons.shape, flat))


def _sums(ctx: LoweringContext, block: Block, spatial: SpatialBlock, weights: Weights) -> str:
    """The pre-activations; a response is a factor behind a Conv that then has no bias."""
    slope = float(slopes(ctx, block.neurons[:1])[0])
    kernel, bias, response = weights.kernel, weights.bias * slope, weights.response
    if ctx.options.fold or response == 1.0:
        kernel, response = kernel * (response * slope), 1.0
    inputs = [_sources(ctx, spatial, block.level), ctx.initializer(block.weights("ConvW"), kernel)]
    if response == 1.0:
        inputs.append(ctx.initializer(block.weights("ConvB"), bias))
    given = _window_attributes(spatial)
    if spatial.groups != 1:
        given["group"] = spatial.groups
    if spatial.kind == "ConvTranspose":
        given |= _output_padding(spatial)
    sums = ctx.emit(spatial.kind, inputs, *block.names("Conv", "conv"), **given)
    if response == 1.0:
        return sums
    inputs = [sums, ctx.scalar(response * slope)]
    sums = ctx.emit("Mul", inputs, *block.names("Response", "response"))
    if not np.any(bias):
        return sums
    shape = [-1, *[1] * (spatial.neurons.ndim - 1)]
    addend = ctx.initializer(block.weights("ConvB"), bias.reshape(shape))
    return ctx.emit("Add", [sums, addend], *block.names("Biased", "bias"))


def lower_pool(ctx: LoweringContext, block: Block, spatial: SpatialBlock) -> None:
    """Write the pool, its activation if it has one, and the layout that later levels read."""
    after, given = pooled_level(ctx, spatial), {}
    if not spatial.kind.startswith("Global"):
        given = _window_attributes(spatial)
        if spatial.window.ceil:
            given["ceil_mode"] = 1
        if spatial.count_padding:
            given["count_include_pad"] = 1
    names = f"Pool_{after}", f"pool_after_l{after}"
    source = _sources(ctx, spatial, block.level)
    pooled = result = ctx.emit(spatial.kind, [source], *names, **given)
    activation = str(ctx.net.activation_names[block.neurons[0]])
    formula = activation_named(activation).expression
    if formula != VARIABLE:  # whole: a pool has no weights for its slope to go into
        result = emit_formula(ctx, formula, pooled, *block.names("Layer", "act"))
    neurons, flat = spatial.neurons.ravel(), (f"PoolFlat_{after}", f"flatten_after_l{after}")
    columns = Columns(result, neurons, block.level, spatial.neurons.shape, flat)
    if ctx.options.flatten_after_pooling:
        columns = Columns(flat_tensor(ctx, columns), neurons, block.level)
    _bind(ctx, block, pooled, columns)


def _sources(ctx: LoweringContext, spatial: SpatialBlock, level: int) -> str:
    """The tensor [N, *shape] of the sources.

    The windows may leave some of them out, and of these no tensor has one that is inside of
    another operator's node: in its place stands one that is read.
    """
    sources = spatial.sources
    inside = (sources < len(ctx.net)) & ~ctx.places.are_readable(sources, level)
    if np.any(inside):
        read = np.isin(sources, ctx.inputs_of(spatial.neurons.ravel())[1])
        sources = np.where(inside & ~read, sources[read][0], sources)
    return in_shape(ctx, sources, level)


def _bind(ctx: LoweringContext, block: Block, tensor: str, result: Columns) -> None:
    """Bind the neurons to their columns of `result`, and their pre-activations to `tensor`."""
    if ctx.reads_state(block.neurons):
        names = f"{tensor}_flat", f"flatten_{tensor}"
        read = ctx.signals.pre_activation[result.signals]
        ctx.places.bind(Columns(tensor, read, block.level, result.shape, names))
    ctx.places.bind(result)


def _window_attributes(block: SpatialBlock) -> dict[str, Any]:
    """The attributes that say how the window slides; default values are left out after the pads."""
    window = block.window
    given: dict[str, Any] = {"kernel_shape": window.kernel, "strides": window.strides}
    given["pads"] = window.pads
    if any(step != 1 for step in window.dilations):
        given["dilations"] = window.dilations
    return given


def _output_padding(spatial: SpatialBlock) -> dict[str, Any]:
    """The number of neurons beyond the last position of the window, on each axis."""
    window = spatial.window
    places = np.array([spatial.neurons.shape[1:], spatial.sources.shape[1:]])
    covered = (places[1] - 1) * window.strides + window.reach
    more = places[0] - (covered - window.begin - window.end)
    return {"output_padding": tuple(more.tolist())} if np.any(more) else {}


def writable_pool(pool: SpatialBlock, opset: int) -> SpatialBlock:
    """The pool as all runtimes read it.

    Raises:
        Unavailable: some do not compute it, or the opset does not say it.
    """
    window, space = pool.window, pool.sources.shape[1:]
    dilated = any(step != 1 for step in window.dilations)
    if pool.kind == "AveragePool" and dilated and opset < _DILATED_AVERAGE_SINCE:
        raise Unavailable(f"AveragePool has dilations from opset {_DILATED_AVERAGE_SINCE} only")
    if any(pad >= taps for pad, taps in zip(window.pads, window.kernel * 2, strict=True)):
        raise Unavailable("runtimes want less padding than the window has taps")
    if not window.leaves_out_a_late_start(space):
        return pool
    plain = replace(window, ceil=False)
    if plain.positions(space) == window.positions(space):
        return replace(pool, window=plain)
    if opset < _LATE_STARTS_SINCE:
        raise Unavailable(
            f"before opset {_LATE_STARTS_SINCE} positions that start after the layer count"
        )
    return pool


def pooled_level(ctx: LoweringContext, spatial: SpatialBlock) -> int:
    """The level of the pooled neurons, 0 for inputs."""
    return int(ctx.schedule.level[spatial.sources].max())
