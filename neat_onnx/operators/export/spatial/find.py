"""Which neurons of a network are written as convolutions and pools.

Mappings are asked first, then the blocks that the network carries, then the weights themselves.
Each is a claim, checked against the connections before it is used.
"""

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from neat_onnx.errors import NetworkError, warn
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Lower, Plan, Stage, lowers
from neat_onnx.network.activations import ACTIVATIONS, activation_named
from neat_onnx.network.genes import Bools, Ints, marked
from neat_onnx.network.schedule import Schedule, schedule, stands_on_a_level
from neat_onnx.network.spatial import SpatialBlock, check_block
from neat_onnx.network.window import Sizes
from neat_onnx.operators.export.spatial.infer import in_order, inferred_blocks
from neat_onnx.operators.export.spatial.layers import lower_convolution, lower_pool, writable_pool
from neat_onnx.operators.export.spatial.metadata import spatial_metadata
from neat_onnx.operators.export.spatial.weights import (
    NotShared,
    Unavailable,
    check_pool,
    shared_weights,
)
from neat_onnx.options.mappings import Conv2DMapping, Pool2DMapping

_IN_FLOAT64 = ("MaxPool",)  # of onnxruntime's kernels


@lowers(Stage.WINDOWS)
def plan_windows(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim convolutions and pools; one that was asked for and does not hold is a warning."""
    search = _Search(ctx, free)
    search.mapped_convolutions()
    search.mapped_pools()
    for whole in ctx.net.blocks:
        label = f"a {whole.kind} of the network is written neuron by neuron"
        for block in whole.by_activation(ctx.net.neurons.activation):
            search.take(label, block, asked=False)
    inferred = []
    if ctx.options.infer_conv:
        label = "a convolution found in the weights is written neuron by neuron"
        for block in inferred_blocks(ctx, search.blocks):
            if search.take(label, block):
                inferred.append(block)
    return Plan(
        search.claims,
        lambda ctx, claims: spatial_metadata(ctx, claims, inferred, search.mismatched),
    )


class _Search:
    """The blocks found so far, and their neurons.

    Attributes:
        blocks, claims: those that are written as such.
        mismatched: the layers that a mapping calls a convolution, and whose weights are none.
    """

    def __init__(self, ctx: LoweringContext, free: Bools) -> None:
        self.blocks: list[SpatialBlock] = []
        self.claims: list[Claim] = []
        self.mismatched: list[int] = []
        matters = marked(len(ctx.net), *ctx.schedule.levels)
        self._taken = matters & ~free & ~ctx.net.is_input  # by planners that were asked before
        self._ctx = ctx
        self._shapes: dict[int, Sizes] = {}  # of levels, as far as they are known
        if len(ctx.net.inputs) == 1:
            self._shapes[0] = ctx.net.inputs[0].shape

    def mapped_convolutions(self) -> None:
        """Take the layers that the options name."""
        for k, mapping in enumerate(self._ctx.options.conv2d_mappings):
            level = mapping.layer_index
            label = f"conv2d_mappings[{k}]: no Conv is written for layer {level}"
            block = self._mapped(label, partial(self._convolution, mapping))
            if block is not None:
                self._shapes[level] = block.neurons.shape
                if self.take(label, block, level):
                    self._compare_activations(k, block, mapping.activation)

    def mapped_pools(self) -> None:
        """Take the pools that the options name, lowest first: each tells the shape of the next."""
        mappings = enumerate(self._ctx.options.pool2d_mappings)
        for k, mapping in sorted(mappings, key=lambda pair: pair[1].after_layer_index):
            level = mapping.after_layer_index
            label = f"pool2d_mappings[{k}]: no pool is written after layer {level}"
            block = self._mapped(label, partial(self._pool, mapping))
            if block is not None and self.take(label, block):
                self._shapes[level + 1] = block.neurons.shape

    def _mapped(self, label: str, claimed: Callable[[], SpatialBlock]) -> SpatialBlock | None:
        """The block of a mapping; None, and a warning, if it cannot be one."""
        try:
            block = claimed()
            if np.any(self._taken[block.neurons]):
                raise NotShared("another mapping has its neurons")
        except NotShared as error:
            warn(f"{label}: {error.message}")
            return None
        return block

    def _compare_activations(self, k: int, block: SpatialBlock, wanted: str | None) -> None:
        """Warn of an activation that a mapping asks for, and the layer does not have."""
        has = self._ctx.net.activation_names[block.neurons.flat[0]]
        known = None if wanted is None else ACTIVATIONS.get(wanted.lower())
        if wanted is not None and (known is None or known != activation_named(has)):
            warn(f"conv2d_mappings[{k}]: the activation {wanted} is left out, the layer has {has}")

    def take(
        self, label: str, block: SpatialBlock, level: int | None = None, *, asked: bool = True
    ) -> bool:
        """Take a block if it holds, and nobody has its neurons; warn if it does not hold.

        Args:
            label: the part of the warning that names the refused operation.
            level: of a mapping, to be remembered where the weights do not bear it out.
            asked: an option asks for the operator: a warning says so if this file cannot have it.
        """
        if np.any(self._taken[block.neurons]):
            return False
        try:
            block, lower = self._checked(block)
        except NotShared as error:
            holds = isinstance(error, Unavailable)
            if asked or not holds:
                warn(f"{label}: {error.message}")
            if level is not None and not holds:
                self.mismatched.append(level)
            return False
        self.blocks.append(block)
        self.claims.append(Claim(Block(0, block.neurons.ravel()), lower, block))
        self._taken[block.neurons] = True
        return True

    def _checked(self, block: SpatialBlock) -> tuple[SpatialBlock, Lower]:
        """The block as it is written, and what writes it."""
        ctx = self._ctx
        try:
            check_block(block, len(ctx.net.connections))
        except NetworkError as error:
            raise NotShared(error.message) from None
        if ctx.options.dtype == "float64" and block.kind not in _IN_FLOAT64:
            raise Unavailable(f"runtimes compute {block.kind} in float32 only")
        if block.is_pool:
            block = writable_pool(block, ctx.options.opset)
            check_pool(ctx.net, ctx.signals, block)
            lower = partial(lower_pool, spatial=block)
        else:
            weights = shared_weights(ctx.net, ctx.signals, block)
            lower = partial(lower_convolution, spatial=block, weights=weights)
        together = [*self.blocks, block]
        if not all(stands_on_a_level(self._levels, each) for each in together):
            try:
                schedule(ctx.net, together)
            except NetworkError:
                raise NotShared("one of its neurons depends on another") from None
        return block, lower

    # --- mappings: an option about a level, as a claim about its neurons, which stand in C order --

    def _convolution(self, mapping: Conv2DMapping) -> SpatialBlock:
        """The block that a mapping claims.

        Raises:
            NotShared: the sizes contradict the network's levels.
        """
        sources = (mapping.in_channels, mapping.in_height, mapping.in_width)
        neurons = (mapping.out_channels, mapping.out_height, mapping.out_width)
        level = mapping.layer_index
        below, here = self._level(level - 1, sources, "in"), self._level(level, neurons, "out")
        return SpatialBlock("Conv", below, here, mapping.window, mapping.groups)

    def _pool(self, mapping: Pool2DMapping) -> SpatialBlock:
        """The block that a mapping claims.

        Raises:
            NotShared: the pooled level's shape is not known, or not that of the network's level.
        """
        level = mapping.after_layer_index
        given = mapping.in_channels, mapping.in_height, mapping.in_width
        shape = tuple(size for size in given if size is not None)
        shape = shape if len(shape) == 3 else self._shapes.get(level, ())
        if len(shape) != 3:
            raise NotShared(f"nothing tells the channels, height and width of layer {level}")
        window = mapping.window
        positions = (shape[0], *window.positions(shape[1:]))
        below, here = self._level(level, shape, "in"), self._level(level + 1, positions, "out")
        padding = mapping.count_include_pad and mapping.type == "AveragePool"
        return SpatialBlock(mapping.type, below, here, window, count_padding=padding)

    @cached_property
    def _levels(self) -> Schedule:
        """The levels that mappings count: of all neurons, whether they matter or not."""
        return schedule(self._ctx.net)

    def _level(self, level: int, shape: Sizes, side: str) -> Ints:
        """The neurons of a level in their order, in that shape."""
        plan, net = self._levels, self._ctx.net
        if level > plan.depth:
            raise NotShared(f"there is no layer {level}, the last one is {plan.depth}")
        neurons = net.input_neurons if level == 0 else in_order(net.output_neurons, plan, level)
        channels, height, width = shape
        if len(neurons) != channels * height * width:
            raise NotShared(
                f"{side}Channels·{side}Height·{side}Width is {channels}·{height}·{width} = "
                f"{channels * height * width}, but layer {level} has {len(neurons)} neurons"
            )
        return neurons.reshape(shape)
