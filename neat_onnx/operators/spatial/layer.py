"""Lowering and lifting that all layers with a window share."""

from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import NetworkError
from neat_onnx.lifting.context import MATERIALIZED, LiftingContext, NewNeurons, Value
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.model import Node
from neat_onnx.model.budget import Budget
from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.network.schedule import OneLevel, SameLevel
from neat_onnx.network.spatial import SpatialBlock, check_block, connections_of, receptive_fields
from neat_onnx.network.window import Sizes, Window, times
from neat_onnx.operators.layout.columns import flat_tensor, in_shape
from neat_onnx.operators.layout.shaping import Split
from neat_onnx.operators.spatial.nodes import WindowAttributes

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


def spatial_value(ctx: LiftingContext, node: Node) -> Ints:
    """The signals [N, channels, *space] of a node's first input.

    Raises:
        ModelError: it has fewer axes.
    """
    return channels_and_space(ctx, node, ctx.value(node, 0))


def channels_and_space(ctx: LiftingContext, node: Node, value: Value) -> Ints:
    """The signals of a tensor [N, channels, *space].

    Raises:
        ModelError: it has fewer axes.
    """
    if len(value.shape) < 3:
        ctx.fail(
            node,
            f"its input has the shape {list(value.shape)}, expected batch, channels, and space",
            hint="A Reshape before it gives a flat tensor its channels and space",
        )
    return ctx.materialize(value)


def window_of(
    ctx: LiftingContext, node: Node, given: WindowAttributes, kernel: Sizes, space: Sizes
) -> Window:
    """The window that a node's attributes describe, its padding spelt out.

    Raises:
        ModelError: they do not fit the space, or each other; or it slides along time or the batch.
    """
    try:
        window = given.window(kernel)
    except NetworkError as error:
        ctx.fail(node, error.message)
    if given.auto_pad != "NOTSET" and any(given.pads or ()):
        ctx.fail(node, f"has auto_pad {given.auto_pad} and pads")
    if given.auto_pad.startswith("SAME"):
        window = _padded_alike(window, space, upper=given.auto_pad == "SAME_UPPER")
    along = zip(window.kernel, window.strides, window.begin, window.end, strict=True)
    sliding = [axis for axis, each in enumerate(along, 2) if each != (1, 1, 0, 0)]
    ctx.refuse_along(node, sliding, 0)
    return window


def pool_window_of(
    ctx: LiftingContext, node: Node, given: WindowAttributes, kernel: Sizes, space: Sizes
) -> Window:
    """The window of a pool, its padding spelt out.

    Raises:
        ModelError: it does not fit the space, or runtimes differ about its padding.
    """
    window = window_of(ctx, node, given, kernel, space)
    if given.auto_pad.startswith("SAME") and any(step != 1 for step in window.dilations):
        ctx.fail(node, f"auto_pad: runtimes differ about {given.auto_pad} with dilations",
                 "Give it pads")  # fmt: skip
    return window


def _of_distinct(ctx: LiftingContext, block: SpatialBlock) -> SpatialBlock:
    """The block over copies of its sources if one stands in several places.

    Elements of a picture that is enlarged do, and the zeros around one that is padded. A window
    over the same neuron twice would be one connection, whose weight is none of the window's.
    """
    sources = block.sources.ravel()
    made_of = np.stack([ctx.kind[sources], ctx.origin[sources], ctx.formula_of[sources]])
    made_of = np.where(ctx.kind[sources] == MATERIALIZED, made_of, sources)
    if block.is_pool or np.unique(made_of, axis=1).shape[1] == len(sources):
        return block
    made = ctx.add_neurons(len(sources))
    ctx.connect(made, sources, np.arange(len(sources)), np.ones(len(sources)))
    copies = ctx.materialize(Value(made.signals))
    return replace(block, sources=copies.reshape(block.sources.shape))


def refuse_window(ctx: LiftingContext, node: Node, window: Window, space: Sizes) -> NoReturn:
    """Raise ModelError about a window that is larger than its padded input."""
    pads = zip(space, window.begin, window.end, strict=True)
    padded = times(size + begin + end for size, begin, end in pads)
    ctx.fail(
        node,
        f"its window covers {times(window.reach)}, more than the padded input, which is {padded}",
    )


def _padded_alike(window: Window, space: Sizes, *, upper: bool) -> Window:
    """The window with ⌈size / stride⌉ positions along each axis; the odd padding last or first."""
    begin, end = [], []
    for size, stride, reach in zip(space, window.strides, window.reach, strict=True):
        missing = max((-(-size // stride) - 1) * stride + reach - size, 0)
        less = missing // 2
        begin.append(less if upper else missing - less)
        end.append(missing - less if upper else less)
    return Window(window.kernel, window.strides, window.dilations, tuple(begin), tuple(end))


def add_block(
    ctx: LiftingContext,
    node: Node,
    blocks: list[SpatialBlock],
    weights: Floats,
    bias: npt.ArrayLike = 0.0,
    response: npt.ArrayLike = 1.0,
    gates: Ints | None = None,
) -> Value:
    """Neurons for a node, a block for each sample of the batch.

    Args:
        blocks: their sources are signals, their neurons anything of the right shape.
        weights: (n,), which the receptive fields index.
        bias, response: for the neurons of one sample, or for all of them.
        gates: (n,), signals that multiply the weights. Such neurons can be no block again.

    Raises:
        ModelError: the sizes of the blocks do not fit together.
    """
    size = blocks[0].neurons.size
    try:
        check_block(blocks[0])
    except NetworkError as error:
        ctx.fail(node, error.message)
    Budget().take("connections", connections_of(blocks[0]) * len(blocks), node.label)
    made = ctx.add_neurons(
        size * len(blocks),
        aggregation=blocks[0].aggregation,
        bias=np.tile(np.broadcast_to(bias, size), len(blocks)),
        response=np.tile(np.broadcast_to(response, size), len(blocks)),
    )
    made.spatial = True
    for k, block in enumerate(blocks):
        _slide(ctx, made, k * size, block, weights, gates)
    shape = (len(blocks), *blocks[0].neurons.shape)
    return Value(made.signals.reshape(shape), made=made)


def _slide(
    ctx: LiftingContext,
    made: NewNeurons,
    first: int,
    block: SpatialBlock,
    weights: Floats,
    gates: Ints | None,
) -> None:
    """Connect the neurons of one block, of which the first is `made`'s at this position."""
    fields = receptive_fields(block)
    position, weight = first + fields.neuron, weights[fields.weight]
    if gates is not None:
        source = block.sources.ravel()[fields.source]
        ctx.connect(made, source, position, weight, gates[fields.weight])
        return
    block = _of_distinct(ctx, block)
    ctx.connect(made, block.sources.ravel()[fields.source], position, weight)
    signals = made.signals[first : first + block.neurons.size]
    ctx.blocks.append(block.with_neurons(signals.reshape(block.neurons.shape)))
