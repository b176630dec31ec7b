"""Conv and ConvTranspose: neurons that share the weights of one window."""

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.network.genes import Bools
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.network.window import Sizes, Window
from neat_onnx.operators.export.formulas.activate import groups_of, slopes
from neat_onnx.operators.export.formulas.activation_functions import emit_activation
from neat_onnx.operators.export.formulas.elementwise import Add, Mul
from neat_onnx.operators.export.spatial.apart import usual_responses
from neat_onnx.operators.export.spatial.layer import (
    SpatialLayer,
    bind_spatial,
    window_attributes,
)
from neat_onnx.operators.export.spatial.nodes import (
    Conv,
    ConvTranspose,
)
from neat_onnx.operators.export.spatial.weights import Weights, shared_weights

# --- lowering ------------------------------------------------------------------------------------


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
        bind_spatial(ctx, block, result, columns, self.apart)

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
        attributes = window_attributes(spatial) | groups
        if spatial.kind == "ConvTranspose":
            attributes |= _output_padding(spatial)
        operator = ConvTranspose if spatial.kind == "ConvTranspose" else Conv
        sums = ctx.emit(operator, inputs, block.tensor("Conv"), block.name("conv"), **attributes)
        if response == 1.0:
            return sums
        inputs = [sums, ctx.scalar(response * slope)]
        sums = ctx.emit(Mul, inputs, block.tensor("Response"), block.name("response"))
        if not np.any(bias):
            return sums
        shape = [-1, *[1] * (spatial.neurons.ndim - 1)]
        addend = ctx.initializer(block.weights("ConvB"), bias.reshape(shape))
        return ctx.emit(Add, [sums, addend], block.tensor("Biased"), block.name("bias"))


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


# --- lifting -------------------------------------------------------------------------------------
