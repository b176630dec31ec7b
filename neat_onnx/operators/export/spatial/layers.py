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
from neat_onnx.network.window import Sizes, Window
from neat_onnx.operators.export.activate import emit_activation, groups_of, slopes
from neat_onnx.operators.export.columns import flat_tensor, in_shape
from neat_onnx.operators.export.spatial.weights import (
    Unavailable,
    Weights,
    shared_weights,
    usual_responses,
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


def _bind(
    ctx: LoweringContext, block: Block, tensor: str, result: Columns, apart: Bools | None = None
) -> None:
    """Bind the neurons of a block to `result`, and their pre-activations to `tensor`.

    Args:
        ctx: the export.
        block: the neurons.
        tensor: of pre-activations, shaped as the result.
        result: the columns of the whole block.
        apart: which of them are not the neurons'; none of the pre-activations is read then.
    """
    if apart is not None:
        _bind_parts(ctx, block, result, apart)
        return
    if ctx.reads_state(block.neurons):
        names, read = (
            (f"{tensor}_flat", f"flatten_{tensor}"),
            ctx.signals.pre_activation[result.signals],
        )
        ctx.places.bind(Columns(tensor, read, block.level, result.shape, names))
    ctx.places.bind(result)


def _bind_parts(ctx: LoweringContext, block: Block, result: Columns, apart: Bools) -> None:
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

    def __init__(
        self, spatial: SpatialBlock, apart: Bools | None, weights: Weights, response: float
    ) -> None:
        super().__init__(spatial, apart)
        self._weights, self._response = weights, response

    @classmethod
    def checked(
        cls, ctx: LoweringContext, spatial: SpatialBlock, apart: Bools | None = None
    ) -> "Convolution":
        """The neurons of a block but those apart, which have one response.

        Raises:
            NotShared: they have not, or other weights or biases than their channel.
        """
        response = float(usual_responses(ctx.net, spatial, apart)[0])
        channels = np.full(len(spatial.neurons), response)
        weights = shared_weights(ctx.net, ctx.signals, spatial, channels, apart)
        return cls(spatial, apart, weights, response)

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write Conv or ConvTranspose, the activation, and the layout that later levels read."""
        spatial, level = self.spatial, block.level
        result, layer = self.applied(ctx, block, self.sources_in_shape(ctx, level))
        neurons, flat = spatial.neurons, (block.tensor("Flat"), block.name("flatten"))
        columns = Columns(layer, neurons.ravel(), level, neurons.shape, flat)
        _bind(ctx, block, result, columns, self.apart)

    @property
    def parameters(self) -> tuple[bytes, bytes, float]:
        """The weights, the biases and the response; equal ones are the same convolution."""
        weights = self._weights
        return weights.kernel.tobytes(), weights.bias.tobytes(), self._response

    def applied(self, ctx: LoweringContext, block: Block, tensor: str) -> tuple[str, str]:
        """Write Conv or ConvTranspose of a tensor, and the activation; return the tensors of
        pre-activations and of activations.
        """
        result = self._sums(ctx, block, tensor)
        group, output = groups_of(ctx, block.neurons)[0], block.tensor("Layer")
        name = block.name("act_conv")
        return result, emit_activation(ctx, group.name, group.formula, result, output, name)

    def _sums(self, ctx: LoweringContext, block: Block, tensor: str) -> str:
        """The pre-activations; a response is a factor behind a Conv that then has no bias."""
        spatial, slope = self.spatial, float(slopes(ctx, block.neurons[:1])[0])
        kernel, bias, response = self._weights.kernel, self._weights.bias * slope, self._response
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
    plain = _unfolded(spatial.window, spatial.sources.shape[1:])
    more = tuple(size - bare for size, bare in zip(spatial.neurons.shape[1:], plain, strict=True))
    return {"output_padding": more} if any(more) else {}


def _unfolded(window: Window, positions: Sizes) -> Sizes:
    """The space that so many positions cover, without padding."""
    return tuple(
        (count - 1) * stride + reach - begin - end
        for count, stride, reach, begin, end in zip(
            positions, window.strides, window.reach, window.begin, window.end, strict=True
        )
    )


class Pool(SpatialLayer):
    """Lowers the neurons of one checked block."""

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write the pool, and the layout that later levels read."""
        spatial = self.spatial
        pooled, result = self.applied(ctx, block, self.sources_in_shape(ctx, block.level))
        neurons, after = spatial.neurons.ravel(), pooled_level(ctx, spatial)
        flat = (f"PoolFlat_{after}", f"flatten_after_l{after}")
        columns = Columns(result, neurons, block.level, spatial.neurons.shape, flat)
        if ctx.options.flatten_after_pooling:
            columns = Columns(flat_tensor(ctx, columns), neurons, block.level)
        _bind(ctx, block, pooled, columns, self.apart)

    def applied(self, ctx: LoweringContext, block: Block, tensor: str) -> tuple[str, str]:
        """Write the pool of a tensor, and the activation; return the tensors of pre-activations and
        of activations.
        """
        after = pooled_level(ctx, self.spatial)
        kind, name = self.spatial.kind, f"pool_after_l{after}"
        pooled = ctx.emit(kind, [tensor], f"Pool_{after}", name, **_attributes(self.spatial))
        activation = str(ctx.net.activation_names[block.neurons[0]])
        formula = activation_named(activation).expression
        if formula == VARIABLE:
            return pooled, pooled
        # whole: a pool has no weights for its slope to go into
        output, name = block.tensor("Layer"), block.name("act")
        return pooled, emit_activation(ctx, label_of(activation), formula, pooled, output, name)


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
