"""Lowering and lifting that all layers with a window share."""

from typing import Any

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.network.schedule import OneLevel, SameLevel
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.operators.export.layout.columns import flat_tensor, in_shape
from neat_onnx.operators.export.layout.shaping import Split

# --- lowering ------------------------------------------------------------------------------------


def window_attributes(block: SpatialBlock) -> dict[str, Any]:
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


def bind_spatial(
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
    parts = ctx.emit_all(Split, inputs, wished, block.name("split"), axis=1)
    for part, run, start in zip(parts, runs, starts, strict=True):
        if not apart[start]:
            ctx.bind(run, part, block.level)


# --- lifting -------------------------------------------------------------------------------------
