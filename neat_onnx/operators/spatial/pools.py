"""The pools: neurons that take the largest, or the mean, of a window on one channel."""

from dataclasses import replace

import numpy as np

from neat_onnx.lifting.context import LiftingContext, lifts
from neat_onnx.lifting.outputs import choice_hint
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.model import Node
from neat_onnx.network.activations import activation_named, label_of
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import Ints
from neat_onnx.network.spatial import Kind, SpatialBlock
from neat_onnx.network.window import Sizes, Window
from neat_onnx.operators.formulas.activation_functions import emit_activation
from neat_onnx.operators.layout.columns import flat_tensor
from neat_onnx.operators.spatial.layer import (
    SpatialLayer,
    add_block,
    bind_spatial,
    pool_window_of,
    refuse_window,
    spatial_value,
    window_attributes,
)
from neat_onnx.operators.spatial.nodes import (
    AveragePool,
    GlobalAveragePool,
    GlobalMaxPool,
    MaxPool,
)
from neat_onnx.operators.spatial.weights import Unavailable, padding_responses

_OPERATORS: dict[Kind, type[Node]] = {
    "MaxPool": MaxPool,
    "AveragePool": AveragePool,
    "GlobalMaxPool": GlobalMaxPool,
    "GlobalAveragePool": GlobalAveragePool,
}
_DILATED_AVERAGE_SINCE = 19
_LATE_STARTS_SINCE = 22


# --- lowering ------------------------------------------------------------------------------------


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
        bind_spatial(ctx, block, pooled, columns, self.apart)

    def applied(self, ctx: LoweringContext, block: Block, tensor: str) -> tuple[str, str]:
        """Write the pool of a tensor, and the activation; return the tensors of pre-activations and
        of activations.
        """
        after = pooled_level(ctx, self.spatial)
        name, operator = f"pool_after_l{after}", _OPERATORS[self.spatial.kind]
        pooled = ctx.emit(operator, [tensor], f"Pool_{after}", name, **_attributes(self.spatial))
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
    attributes = window_attributes(spatial)
    if spatial.window.ceil:
        attributes["ceil_mode"] = 1
    if spatial.count_padding:
        attributes["count_include_pad"] = 1
    return attributes


# --- lifting -------------------------------------------------------------------------------------


@lifts(MaxPool, AveragePool)
def lift_pool(ctx: LiftingContext, node: MaxPool | AveragePool) -> None:
    """Lift MaxPool and AveragePool: a block, with a neuron for each position and channel."""
    if len(node.output) > 1 and ctx.wiring.is_read(node.output[1]):
        ctx.fail(
            node,
            "its second output, the indices, cannot be turned into neurons",
            hint=choice_hint(ctx.model.graph, node.output[1:]),
        )
    signals, given = spatial_value(ctx, node), node.attributes
    if len(given.kernel_shape) != signals.ndim - 2:
        ctx.fail(
            node,
            f"kernel_shape is {list(given.kernel_shape)}, expected {signals.ndim - 2} numbers",
        )
    window = pool_window_of(ctx, node, given, given.kernel_shape, signals.shape[2:])
    if 0 in window.positions(signals.shape[2:]):
        refuse_window(ctx, node, window, signals.shape[2:])
    _lift(ctx, node, signals, window, bool(getattr(given, "count_include_pad", 0)))


@lifts(GlobalMaxPool, GlobalAveragePool)
def lift_global_pool(ctx: LiftingContext, node: Node) -> None:
    """Lift pools over all positions: a neuron for each channel."""
    signals = spatial_value(ctx, node)
    ctx.refuse_along(node, range(2, signals.ndim))
    _lift(ctx, node, signals, Window.of(signals.shape[2:]), count_padding=False)


def _lift(
    ctx: LiftingContext, node: Node, signals: Ints, window: Window, count_padding: bool
) -> None:
    kind = _kind(node)
    shape = (signals.shape[1], *window.positions(signals.shape[2:]))
    ctx.check_size(node, int(np.prod(shape, dtype=object)))
    blank = np.zeros(shape, np.int64)
    blocks = [
        SpatialBlock(kind, sources, blank, window, count_padding=count_padding)
        for sources in signals
    ]
    response = np.ones(1)
    if count_padding:
        response = np.tile(padding_responses(blocks[0]), shape[0])
    value = add_block(ctx, node, blocks, np.ones(1), response=response)
    _refuse_empty(ctx, node, blocks[0], shape)
    ctx.bind(node, value)


def _kind(node: Node) -> Kind:
    return next(kind for kind, operator in _OPERATORS.items() if isinstance(node, operator))


def _refuse_empty(ctx: LiftingContext, node: Node, block: SpatialBlock, shape: Sizes) -> None:
    """Refuse a largest of nothing, where a window stands in the padding only."""
    taps = block.window.taps(block.sources.shape[1:], shape[1:])
    if block.aggregation == "max" and not np.all(np.any(taps >= 0, axis=1)):
        ctx.fail(node, "a window stands in the padding only, where there is no largest value")
