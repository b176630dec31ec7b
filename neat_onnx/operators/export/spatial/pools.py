"""The pools: neurons that take the largest, or the mean, of a window on one channel."""

from dataclasses import replace

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.model import Node
from neat_onnx.network.activations import activation_named, label_of
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.spatial import Kind, SpatialBlock
from neat_onnx.operators.export.formulas.activation_functions import emit_activation
from neat_onnx.operators.export.layout.columns import flat_tensor
from neat_onnx.operators.export.spatial.layer import (
    SpatialLayer,
    bind_spatial,
    window_attributes,
)
from neat_onnx.operators.export.spatial.nodes import (
    AveragePool,
    GlobalAveragePool,
    GlobalMaxPool,
    MaxPool,
)
from neat_onnx.operators.export.spatial.weights import Unavailable

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
