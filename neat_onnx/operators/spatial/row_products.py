"""Rows that have the same weights, each over its own row of sources: one MatMul.

They are a window of one tap over channels, and a Conv says the same; but it wants the channels
first. Where they come last, or in the middle as an axis of a picture, a Conv would have to be put
between two Transposes.
"""

from dataclasses import replace

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.network.genes import Bools, Floats
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.operators.formulas.activate import groups_of, slopes
from neat_onnx.operators.formulas.activation_functions import emit_activation
from neat_onnx.operators.formulas.elementwise import Add, Mul
from neat_onnx.operators.layout.columns import in_shape
from neat_onnx.operators.spatial.apart import usual_responses
from neat_onnx.operators.spatial.layer import SpatialLayer, bind_spatial
from neat_onnx.operators.spatial.weights import Weights, shared_weights
from neat_onnx.operators.sums.dense import MatMul


def is_row_product(ctx: LoweringContext, block: SpatialBlock) -> bool:
    """Whether a block is a window of one tap over sources that stand in order, as `_in_order` has
    them, and more than channels and their space; or in none, so that they are gathered anyway; or
    its channels have responses of their own, which a Conv has not, or lack connections, of which
    import makes some of a Conv's weights of 0.
    """
    if not block.is_product:
        return False
    firsts, rows = block.neurons[:, 0], block.sources.shape[1]
    response = ctx.net.neurons.response[firsts]
    if np.any(response != response[0]) or np.any(ctx.net.fan_in[firsts] < len(block.sources)):
        return True
    return block.repeats_sources or (len(block.sources) > 1 and _between(block) != rows)


def _between(block: SpatialBlock) -> int:
    """How many rows have a source between the first two of the first row, and there; 1 where the
    sources are in no order.
    """
    sources = block.sources
    if block.repeats_sources:
        return 1
    first, second = sources[0, 0], sources[-1 if len(sources) == 1 else 1, 0]
    found = max(1, int(np.count_nonzero((first <= sources) & (sources < second))))
    if sources.shape[1] % found:
        return 1
    return found if np.all(np.diff(_in_order(sources, found).ravel()) > 0) else 1


def _in_order(neurons: np.ndarray, between: int) -> np.ndarray:
    """Neurons (channels, rows) as [outer, channels, between], without an outer axis of one element;
    as [rows, channels] if nothing is between.
    """
    if between == 1:
        return neurons.T
    ordered = neurons.reshape(len(neurons), -1, between).swapaxes(0, 1)
    return ordered[0] if len(ordered) == 1 else ordered


def _along(values: Floats, between: int) -> Floats:
    """A value of each channel, shaped so that it broadcasts; one where all are the same."""
    values = values[:1] if np.all(values == values[0]) else values
    return values if between == 1 else values[:, None]


class RowProduct(SpatialLayer):
    """Lowers the neurons of one checked block."""

    def __init__(
        self, spatial: SpatialBlock, apart: Bools | None, weights: Weights, response: Floats
    ) -> None:
        super().__init__(spatial, apart)
        self._weights, self._response = weights, response

    @classmethod
    def checked(
        cls, ctx: LoweringContext, spatial: SpatialBlock, apart: Bools | None = None
    ) -> "RowProduct":
        """The rows of a block, but neurons that are apart.

        Raises:
            NotShared: they do not have the same weights, biases and responses.
        """
        response = usual_responses(ctx.net, spatial, apart)
        weights = shared_weights(ctx.net, ctx.signals, spatial, response, apart)
        return cls(spatial, apart, weights, response)

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write a MatMul of all rows, an Add of the biases, and the activation."""
        between, level = _between(self.spatial), block.level
        neurons, apart = _in_order(self.spatial.neurons, between), self.apart
        if apart is None:
            block = replace(block, neurons=neurons.ravel())
        else:
            apart = _in_order(apart.reshape(self.spatial.neurons.shape), between).ravel()
            block = replace(block, neurons=neurons.ravel()[~apart])
        result = self._product(ctx, block, between)
        group, name = groups_of(ctx, block.neurons)[0], block.name("act")
        layer = emit_activation(ctx, group.name, group.formula, result, block.tensor("Layer"), name)
        flat = (block.tensor("Flat"), block.name("flatten"))
        columns = Columns(layer, neurons.ravel(), level, neurons.shape, flat)
        bind_spatial(ctx, block, result, columns, apart)

    def _product(self, ctx: LoweringContext, block: Block, between: int) -> str:
        """The pre-activations: the rows times the weights, or the weights times the columns."""
        slope = float(slopes(ctx, block.neurons[:1])[0])
        matrix, biases = self._weights.kernel[:, :, 0], self._weights.bias * slope
        response = self._response * slope
        if ctx.options.fold or np.all(response == slope):
            matrix, response = matrix * response[:, None], np.ones(len(response))
        tensor = in_shape(ctx, _in_order(self.spatial.sources, between), block.level)
        weights = ctx.initializer(block.weights("W"), matrix.T if between == 1 else matrix)
        inputs = [tensor, weights] if between == 1 else [weights, tensor]
        result = ctx.emit(MatMul, inputs, block.tensor("MatMul"), block.name("matmul"))
        if np.any(response != 1.0):
            factor = ctx.initializer(block.weights("S"), _along(response, between))
            name = block.name("response")
            result = ctx.emit(Mul, [result, factor], block.tensor("Response"), name)
        if not np.any(biases):
            return result
        bias = ctx.initializer(block.weights("B"), _along(biases, between))
        return ctx.emit(Add, [result, bias], block.tensor("Biased"), block.name("bias"))
