"""Which neurons of a network are written as convolutions and pools.

Mappings are asked first, then the blocks that the network carries, then what is found in the
weights. Each is a claim, checked against the connections before it is used.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from neat_onnx.errors import NeatOnnxWarning, NetworkError
from neat_onnx.lowering import Block, LoweringContext
from neat_onnx.network.genes import Ints
from neat_onnx.network.schedule import schedule
from neat_onnx.network.spatial import SpatialBlock, check_block
from neat_onnx.network.window import Sizes
from neat_onnx.operators.spatial.convolution import Convolution
from neat_onnx.operators.spatial.infer import inferred_blocks
from neat_onnx.operators.spatial.mapped import mapped_convolution, mapped_pool
from neat_onnx.operators.spatial.pools import Pool
from neat_onnx.operators.spatial.weights import NotShared, check_pool, shared_weights

_DILATED_AVERAGE_SINCE = 19


@dataclass
class SpatialLayers:
    """What was found.

    Attributes:
        handlers: one for each block that is written as such.
        mismatched: the layers that a mapping calls a convolution, and whose weights are none.
        inferred: those of the blocks that were found in the weights.
    """

    handlers: list[Convolution | Pool] = field(default_factory=list)
    mismatched: list[int] = field(default_factory=list)
    inferred: list[SpatialBlock] = field(default_factory=list)

    @property
    def blocks(self) -> list[SpatialBlock]:
        return [handler.spatial for handler in self.handlers]

    @property
    def neurons(self) -> Ints:
        """Those of all blocks."""
        every = (block.neurons.ravel() for block in self.blocks)
        return np.concatenate([np.empty(0, np.int64), *every])

    def claims(self, ctx: LoweringContext) -> list[tuple[Convolution | Pool, Block]]:
        """A block to lower for each, on the level that the plan has it on."""
        return [
            (handler, Block(int(ctx.plan.level[neurons[0]]), neurons))
            for handler in self.handlers
            for neurons in [handler.spatial.neurons.ravel()]
        ]


def spatial_layers(ctx: LoweringContext) -> SpatialLayers:
    """The convolutions and pools of a network.

    A mapping or a block of the network that does not hold is a NeatOnnxWarning.
    """
    search = _Search(ctx)
    search.mappings()
    for block in ctx.net.blocks:
        search.take(lambda block=block: block, f"a {block.kind} of the network")  # type: ignore[misc]
    if ctx.options.infer_conv:
        for block in inferred_blocks(ctx, search.taken):
            if search.take(lambda block=block: block, "a layer that was found"):  # type: ignore[misc]
                search.found.inferred.append(block)
    return search.found


class _Search:
    """What has been found so far, and the neurons that it has taken."""

    def __init__(self, ctx: LoweringContext) -> None:
        self.found = SpatialLayers()
        self.taken = np.zeros(len(ctx.net), np.bool_)
        self._ctx = ctx

    def mappings(self) -> None:
        """Take what the options say of layers; they count levels of neurons."""
        ctx, options = self._ctx, self._ctx.options
        if not (options.conv2d_mappings or options.pool2d_mappings):
            return
        plan = schedule(ctx.net)
        shapes: dict[int, Sizes] = {}
        if len(ctx.net.inputs) == 1:
            shapes[0] = ctx.net.inputs[0].shape
        for k, convolution in enumerate(options.conv2d_mappings):
            level = convolution.layer_index
            shapes[level] = (
                convolution.out_channels,
                convolution.out_height,
                convolution.out_width,
            )
            label = f"conv2d_mappings[{k}] (layer {level})"
            if not self.take(lambda m=convolution: mapped_convolution(ctx, plan, m), label):  # type: ignore[misc]
                self.found.mismatched.append(level)
        for k, pool in sorted(
            enumerate(options.pool2d_mappings), key=lambda item: item[1].after_layer_index
        ):
            level = pool.after_layer_index
            label = f"pool2d_mappings[{k}] (after layer {level})"
            if self.take(lambda m=pool: mapped_pool(ctx, plan, m, shapes), label):  # type: ignore[misc]
                shapes[level + 1] = self.found.blocks[-1].neurons.shape

    def take(self, claim: Callable[[], SpatialBlock], label: str) -> bool:
        """Take a block that holds; warn of one that does not."""
        try:
            block = claim()
            if np.any(self.taken[block.neurons]):
                return False
            handler = self._checked(block)
        except NotShared as error:
            warnings.warn(
                f"{label} is written neuron by neuron: {error.message}",
                NeatOnnxWarning,
                stacklevel=2,
            )
            return False
        self.found.handlers.append(handler)
        self.taken[block.neurons] = True
        return True

    def _checked(self, block: SpatialBlock) -> Convolution | Pool:
        ctx = self._ctx
        try:
            check_block(block)
        except NetworkError as error:
            raise NotShared(error.message) from None
        self._check_operator(block)
        if block.is_pool:
            check_pool(ctx, block)
            handler: Convolution | Pool = Pool(block)
        else:
            handler = Convolution(block, shared_weights(ctx, block))
        try:
            schedule(ctx.net, [*self.found.blocks, block])
        except NetworkError:
            raise NotShared("one of its neurons depends on another") from None
        return handler

    def _check_operator(self, block: SpatialBlock) -> None:
        """Refuse what runtimes do not compute, or the opset does not say."""
        options = self._ctx.options
        if not block.is_pool and options.dtype == "float64":
            raise NotShared(f"runtimes compute {block.kind} in float32 only")
        dilated = any(step != 1 for step in block.window.dilations)
        if block.kind == "AveragePool" and dilated and options.opset < _DILATED_AVERAGE_SINCE:
            raise NotShared(f"AveragePool has dilations from opset {_DILATED_AVERAGE_SINCE} only")
