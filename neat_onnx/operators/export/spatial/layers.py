"""Conv, ConvTranspose and the pools: neurons that share the weights of one window, or take the
largest or the mean of it.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.network.activations import activation_named, label_of
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.network.schedule import OneLevel, SameLevel
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.network.window import Sizes
from neat_onnx.operators.export.activate import emit_activation, groups_of, slopes
from neat_onnx.operators.export.columns import flat_tensor, in_shape
from neat_onnx.operators.export.spatial.weights import (
    Unavailable,
    Weights,
    shared_weights,
)

_DILATED_AVERAGE_SINCE = 19
_LATE_STARTS_SINCE = 22


def _window_attributes(block: SpatialBlock) -> dict[str, Any]:
    """The attributes that say how the window slides; default values are left out after the pads."""
    window = block.window
    attributes: dict[str, Any] = {
        "kernel_shape": window.kernel,
        "strides": window.strides,
        "pads": window.pads,
    }
    if any(step != 1 for step in window.dilations):
        attributes["dilations"] = window.dilations
    return attributes


class SpatialLayer:
    """Neurons of one block, checked to be written as its operator.

    Attributes:
        spatial: the block.
        apart: which of its neurons are not among them, in the order of the block; None for none.
    """

    def __init__(self, spatial: SpatialBlock, apart: Bools | None) -> None:
        self.spatial, self.apart = spatial, apart

    @property
    def neurons(self) -> Ints:
        """The neurons that are written."""
        neurons: Ints = self.spatial.neurons.ravel()
        return neurons if self.apart is None else neurons[~self.apart]

    @property
    def one_level(self) -> OneLevel:
        """The neurons that stand on one level."""
        if self.apart is None:
            return self.spatial
        return SameLevel(self.neurons, self.spatial.sources.ravel())

    def sources_in_shape(self, ctx: LoweringContext, level: int) -> str:
        """The tensor [N, *shape] of the sources.

        The windows may leave some of them out, and of these no tensor has one that is inside of
        another operator's node: in its place stands one that is read.
        """
        sources = self.spatial.sources
        inside = (sources < len(ctx.net)) & ~ctx.places.are_readable(sources, level)
        if np.any(inside):
            _, edges = ctx.edges_into(self.neurons)
            read = np.isin(sources, ctx.signals.read[edges])
            sources = np.where(inside & ~read, sources[read][0], sources)
        return in_shape(ctx, sources, level)

    def bind(self, ctx: LoweringContext, block: Block, tensor: str, result: Columns) -> None:
        """Bind the neurons to their columns of `result`, and their pre-activations to `tensor`."""
        if self.apart is not None:  # none of the pre-activations is read then
            self._bind_runs(ctx, block, result, self.apart)
            return
        if ctx.reads_state(block.neurons):
            names = f"{tensor}_flat", f"flatten_{tensor}"
            read = ctx.signals.pre_activation[result.signals]
            ctx.places.bind(Columns(tensor, read, block.level, result.shape, names))
        ctx.places.bind(result)

    def _bind_runs(self, ctx: LoweringContext, block: Block, result: Columns, apart: Bools) -> None:
        """Bind runs of columns between those that are apart."""
        starts = np.flatnonzero(np.append(True, np.diff(apart)))
        runs = np.split(result.signals, starts[1:])
        wished = [f"{block.tensor('Part')}_{k}" for k in range(len(runs))]
        sizes = ctx.integers(block.weights("parts"), [len(run) for run in runs])
        inputs = [flat_tensor(ctx, result), sizes]
        parts = ctx.emit_all("Split", inputs, wished, block.name("split"), axis=1)
        for part, run, start in zip(parts, runs, starts, strict=True):
            if not apart[start]:
                ctx.bind(run, part, block.level)


class Convolution(SpatialLayer):
    """Lowers the neurons of one checked block."""

    def __init__(self, spatial: SpatialBlock, apart: Bools | None, weights: Weights) -> None:
        super().__init__(spatial, apart)
        self._weights = weights

    @classmethod
    def checked(
        cls, ctx: LoweringContext, spatial: SpatialBlock, apart: Bools | None = None
    ) -> "Convolution":
        """The neurons of a block but those apart, which have one response.

        Raises:
            NotShared: they have not, or other weights or biases than their channel.
        """
        return cls(spatial, apart, shared_weights(ctx.net, ctx.signals, spatial, apart))

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write Conv or ConvTranspose, the activation, and the layout that later levels read."""
        neurons, level = self.spatial.neurons, block.level
        sums = self._sums(ctx, block, self.sources_in_shape(ctx, level))
        group, names = (
            groups_of(ctx, block.neurons)[0],
            (block.tensor("Layer"), block.name("act_conv")),
        )
        layer = emit_activation(ctx, group.name, group.formula, sums, *names)
        flat = block.tensor("Flat"), block.name("flatten")
        columns = Columns(layer, neurons.ravel(), level, neurons.shape, flat)
        self.bind(ctx, block, sums, columns)

    def _sums(self, ctx: LoweringContext, block: Block, tensor: str) -> str:
        """The pre-activations; a response is a factor behind a Conv that then has no bias."""
        spatial, slope = self.spatial, float(slopes(ctx, block.neurons[:1])[0])
        given = self._weights
        kernel, bias, response = given.kernel, given.bias * slope, given.response
        if ctx.options.fold or response == 1.0:
            kernel, response = kernel * (response * slope), 1.0
        inputs = [tensor, ctx.initializer(block.weights("ConvW"), kernel)]
        if response == 1.0:
            inputs.append(ctx.initializer(block.weights("ConvB"), bias))
        groups = {"group": spatial.groups} if spatial.groups != 1 else {}
        attributes = _window_attributes(spatial) | groups
        if spatial.kind == "ConvTranspose":
            attributes |= _output_padding(spatial)
        sums = ctx.emit(
            spatial.kind, inputs, block.tensor("Conv"), block.name("conv"), **attributes
        )
        if response == 1.0:
            return sums
        inputs = [sums, ctx.scalar(response * slope)]
        sums = ctx.emit("Mul", inputs, block.tensor("Response"), block.name("response"))
        if not np.any(bias):
            return sums
        shape = [-1, *[1] * (spatial.neurons.ndim - 1)]
        addend = ctx.initializer(block.weights("ConvB"), bias.reshape(shape))
        return ctx.emit("Add", [sums, addend], block.tensor("Biased"), block.name("bias"))


def _output_padding(spatial: SpatialBlock) -> dict[str, Sizes]:
    """The number of neurons beyond the last position of the window, on each axis."""
    window = spatial.window
    places = zip(spatial.neurons.shape[1:], spatial.sources.shape[1:], strict=True)
    geometry = zip(window.strides, window.reach, window.begin, window.end, strict=True)
    more = tuple(
        size - ((positions - 1) * stride + reach - begin - end)
        for (size, positions), (stride, reach, begin, end) in zip(places, geometry, strict=True)
    )
    return {"output_padding": more} if any(more) else {}


class Pool(SpatialLayer):
    """Lowers the neurons of one checked block."""

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write the pool, and the layout that later levels read."""
        spatial, after = self.spatial, pooled_level(ctx, self.spatial)
        source, name = self.sources_in_shape(ctx, block.level), f"pool_after_l{after}"
        pooled = ctx.emit(spatial.kind, [source], f"Pool_{after}", name, **_attributes(spatial))
        activation = str(ctx.net.activation_names[block.neurons[0]])
        formula, result = activation_named(activation).expression, pooled
        if formula != VARIABLE:  # whole: a pool has no weights for its slope to go into
            names = block.tensor("Layer"), block.name("act")
            result = emit_activation(ctx, label_of(activation), formula, pooled, *names)
        neurons, flat = spatial.neurons.ravel(), (f"PoolFlat_{after}", f"flatten_after_l{after}")
        columns = Columns(result, neurons, block.level, spatial.neurons.shape, flat)
        if ctx.options.flatten_after_pooling:
            columns = Columns(flat_tensor(ctx, columns), neurons, block.level)
        self.bind(ctx, block, pooled, columns)


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


def _attributes(spatial: SpatialBlock) -> dict[str, object]:
    if spatial.kind not in ("MaxPool", "AveragePool"):
        return {}
    attributes = _window_attributes(spatial)
    if spatial.window.ceil:
        attributes["ceil_mode"] = 1
    if spatial.count_padding:
        attributes["count_include_pad"] = 1
    return attributes
