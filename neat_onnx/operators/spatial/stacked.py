"""Windows that slide alike over several samples: one operator for all of them.

A picture that is cut into patches, or frames of a video, are so many samples of a convolution.
Import makes a block of each. They are written as one tensor of all samples, the batch outermost.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.network.genes import NONE, Ints, distinct
from neat_onnx.network.schedule import OneLevel, SameLevel
from neat_onnx.operators.layout.columns import in_shape
from neat_onnx.operators.layout.shaping import Reshape
from neat_onnx.operators.spatial.convolution import Convolution
from neat_onnx.operators.spatial.layer import SpatialLayer
from neat_onnx.operators.spatial.pools import Pool
from neat_onnx.operators.spatial.row_products import RowProduct

Layer = Convolution | Pool | RowProduct


class Stacked(SpatialLayer):
    """Lowers the neurons of several layers that are alike.

    Attributes:
        sources: the neurons that they slide over, (samples, channels, *space).
    """

    def __init__(self, layers: Sequence[Convolution | Pool]) -> None:
        super().__init__(layers[0].spatial, None)
        self._layer = layers[0]
        self.sources = np.stack([each.spatial.sources for each in layers])
        self._neurons = np.stack([each.spatial.neurons for each in layers])

    @property
    def neurons(self) -> Ints:
        """The neurons of all layers."""
        return self._neurons.ravel()

    @property
    def one_level(self) -> OneLevel:
        """All neurons, which stand on one level."""
        return SameLevel(self.neurons, self.sources.ravel())

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write the operator between Reshapes from and to the samples of the batch."""
        level, shape = block.level, self._neurons.shape
        rows = in_shape(ctx, self.sources, level)

        def samples() -> str:
            sizes = ctx.shared_integers("shape", [-1, *self.sources.shape[1:]])
            return ctx.emit(Reshape, [rows, sizes], block.tensor("Samples"), block.name("samples"))

        tensor = ctx.once(_samples_of(rows), samples)
        _, layer = self._layer.applied(ctx, block, tensor)
        sizes = ctx.shared_integers("shape", [-1, *shape])
        result = ctx.emit(Reshape, [layer, sizes], block.tensor("Rows"), block.name("rows"))
        ctx.once(_samples_of(result), lambda: layer)
        flat = block.tensor("Flat"), block.name("flatten")
        ctx.places.bind(Columns(result, self.neurons, level, shape, flat))


def _samples_of(tensor: str) -> str:
    """The key of a tensor with the samples and the batch on one axis."""
    return f"samples of {tensor}"


def with_stacks(
    ctx: LoweringContext, layers: Sequence[Layer], among: Sequence[Layer]
) -> list[Layer | Stacked]:
    """The layers, some that are alike as one over all of their sources.

    These are of one input, or of one such layer: others would have to be joined.

    Args:
        ctx: the export.
        layers: all layers.
        among: the layers that may be written so.
    """
    origin = np.full(len(ctx.net), NONE)
    for number, port in enumerate(ctx.net.inputs):
        origin[port.neurons] = number
    stacks, written = list[Stacked](), set[int]()
    for alike in _alike(ctx, among):
        stack = Stacked(alike)
        read = distinct(origin[stack.sources.ravel()])
        if len(read) == 1 and read[0] != NONE:
            origin[stack.neurons] = len(ctx.net.inputs) + len(stacks)
            stacks.append(stack)
            written.update(map(id, alike))
    return [*stacks, *(each for each in layers if id(each) not in written)]


def _alike(ctx: LoweringContext, layers: Sequence[Layer]) -> Iterator[list[Convolution | Pool]]:
    """Yield layers that are alike, whose sources and neurons are in order; lowest ones first."""
    found = defaultdict[Hashable, list[Convolution | Pool]](list)
    for layer in layers:
        if isinstance(layer, Convolution | Pool) and layer.apart is None:
            found[_key(ctx, layer)].append(layer)
    level = ctx.schedule.level
    for each in sorted(found.values(), key=lambda its: int(level[its[0].neurons[0]])):
        blocks = [layer.spatial for layer in each]
        sources, neurons = (
            np.concatenate([end.ravel() for end in ends])
            for ends in zip(*((block.sources, block.neurons) for block in blocks), strict=True)
        )
        ordered = np.all(sources[1:] > sources[:-1]) and np.all(neurons[1:] > neurons[:-1])
        if len(each) > 1 and ordered and not ctx.reads_state(neurons):
            yield each


def _key(ctx: LoweringContext, layer: Convolution | Pool) -> Hashable:
    """A key that layers have in common if they are one operator."""
    block = layer.spatial
    return (
        *(block.kind, block.window, block.groups, block.count_padding),
        *(block.sources.shape, block.neurons.shape),
        ctx.net.neurons.activation[layer.neurons[0]],
        layer.parameters if isinstance(layer, Convolution) else (),
    )
