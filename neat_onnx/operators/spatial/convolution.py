"""Conv and ConvTranspose: neurons that share the weights of one window."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.model import Node
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.network.spatial import Kind, SpatialBlock
from neat_onnx.network.window import Sizes, Window, times
from neat_onnx.operators.formulas.activate import groups_of, slopes
from neat_onnx.operators.formulas.activation_functions import emit_activation
from neat_onnx.operators.formulas.elementwise import Add, Mul
from neat_onnx.operators.spatial.apart import usual_responses
from neat_onnx.operators.spatial.layer import (
    SpatialLayer,
    add_block,
    bind_spatial,
    refuse_window,
    spatial_value,
    window_attributes,
    window_of,
)
from neat_onnx.operators.spatial.nodes import (
    Conv,
    ConvTranspose,
    ConvTransposeAttributes,
)
from neat_onnx.operators.spatial.weights import Weights, shared_weights

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


@lifts(Conv)
def lift_conv(ctx: LiftingContext, node: Conv) -> None:
    """Lift Conv: a sum neuron for each position and channel, kept together as a block."""
    signals, kernel = spatial_value(ctx, node), _parameter(ctx, node, 1)
    ctx.bind(node, convolved(ctx, node, signals, kernel, kernel_at=1, bias_at=2))


def convolved(
    ctx: LiftingContext,
    node: Any,
    signals: Ints,
    kernel: Operand,
    *,
    kernel_at: int,
    bias_at: int | None = None,
) -> Value:
    """Neurons that slide a window over signals [N, C, *space].

    Args:
        ctx: the import.
        node: a node with the attributes of a Conv.
        signals: the tensor that it reads.
        kernel: W [M, C/group, …].
        kernel_at, bias_at: positions of kernel and bias among its inputs; None without a bias.

    Raises:
        ModelError: their shapes do not fit.
    """
    space = signals.shape[2:]
    _check_kernel(ctx, node, kernel, len(space), kernel_at)
    groups = node.attributes.group
    if signals.shape[1] != kernel.shape[1] * groups:
        ctx.fail(
            node,
            f"its input has {signals.shape[1]} channels, {node.input[kernel_at]} expects "
            f"{kernel.shape[1] * groups}",
        )
    window = window_of(ctx, node, node.attributes, kernel.shape[2:], space)
    positions = window.positions(space)
    if 0 in positions:
        refuse_window(ctx, node, window, space)
    bias = _bias(ctx, node, kernel.shape[0], bias_at)
    return _slid(ctx, node, "Conv", signals, kernel, bias, positions, window)


@lifts(ConvTranspose)
def lift_conv_transpose(ctx: LiftingContext, node: ConvTranspose) -> None:
    """Lift ConvTranspose: a sum neuron for each position and channel, kept together as a block."""
    signals, kernel, given = spatial_value(ctx, node), _parameter(ctx, node, 1), node.attributes
    counts = signals.shape[2:]
    _check_kernel(ctx, node, kernel, len(counts), 1)
    if signals.shape[1] != kernel.shape[0]:
        ctx.fail(
            node,
            f"its input has {signals.shape[1]} channels, {node.input[1]} expects {kernel.shape[0]}",
        )
    if given.output_shape and given.pads:
        ctx.fail(node, "has output_shape and pads")
    plain = given.model_copy(update={"auto_pad": "NOTSET"})
    window = window_of(ctx, node, plain, kernel.shape[2:], counts)
    more = given.output_padding or (0,) * len(counts)
    if len(more) != len(counts) or min(more) < 0:
        ctx.fail(node, f"output_padding is {list(more)}, expected {len(counts)} numbers from 0")
    window, space = _unfolding(window, given, counts, more)
    if min(space) < 1:
        ctx.fail(node, f"its output would have the shape {times(space)}")
    out = kernel.shape[1] * given.group
    bias = _bias(ctx, node, out, 2)
    ctx.bind(node, _slid(ctx, node, "ConvTranspose", signals, kernel, bias, space, window))


def _unfolding(
    window: Window, given: ConvTransposeAttributes, counts: Sizes, more: Sizes
) -> tuple[Window, Sizes]:
    """The window with its padding, and the space of the output: as ONNX's ConvTranspose has it."""
    bare = _unfolded(window, counts)
    whole = tuple(size + extra for size, extra in zip(bare, more, strict=True))
    wanted: Sizes | None = given.output_shape
    if wanted is None and given.auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        wanted = tuple(  # padding makes it smaller, never larger
            min(count * stride, size)
            for count, stride, size in zip(counts, window.strides, whole, strict=True)
        )
    if wanted is None:
        return window, whole
    wanted = wanted[-len(counts) :]
    excess = [max(size - least, 0) for size, least in zip(whole, wanted, strict=True)]
    less = tuple(size // 2 for size in excess)
    rest = tuple(size - half for size, half in zip(excess, less, strict=True))
    begin, end = (less, rest) if given.auto_pad == "SAME_UPPER" else (rest, less)
    return replace(window, begin=begin, end=end), wanted


def _slid(
    ctx: LiftingContext,
    node: Any,
    kind: Kind,
    signals: Ints,
    kernel: Operand,
    bias: Operand,
    space: Sizes,
    window: Window,
) -> Value:
    channels = math.prod(bias.shape)
    shape = (channels, *space)
    ctx.check_size(node, math.prod(shape))
    blank = np.zeros(shape, np.int64)
    blocks = [
        SpatialBlock(kind, sources, blank, window, node.attributes.group) for sources in signals
    ]
    constant = np.zeros(channels) if isinstance(bias, Value) else np.asarray(bias, np.float64)
    weights, gates = np.ones(math.prod(kernel.shape)), None
    if isinstance(kernel, Value):
        gates = ctx.materialize(kernel).ravel()
    else:
        weights = kernel.ravel().astype(np.float64)
    value = add_block(
        ctx, node, blocks, weights, np.repeat(constant, math.prod(space)), gates=gates
    )
    if isinstance(bias, Value):
        read = np.broadcast_to(ctx.materialize(bias).reshape(-1, *[1] * len(space)), value.shape)
        assert value.made is not None
        size = value.signals.size
        ctx.connect(value.made, read, np.arange(size), np.ones(size))
    return value


def _parameter(ctx: LiftingContext, node: Node, position: int) -> Operand:
    """A kernel or a bias. One that is computed gates the connections that it weighs; where there is
    a batch it would have to be another one for every sample.
    """
    return ctx.operand(node, position) if ctx.features_only else ctx.constant(node, position)


def _check_kernel(
    ctx: LiftingContext, node: Any, kernel: Operand, axes: int, position: int
) -> None:
    name, given = node.input[position], node.attributes
    if len(kernel.shape) != axes + 2:
        ctx.fail(node, f"{name} has {len(kernel.shape)} axes, expected {axes + 2}")
    if given.kernel_shape is not None and given.kernel_shape != kernel.shape[2:]:
        ctx.fail(
            node,
            f"kernel_shape {list(given.kernel_shape)} disagrees with {name}, which has "
            f"{list(kernel.shape[2:])}",
        )
    if given.group < 1 or kernel.shape[0] % given.group:
        ctx.fail(node, f"group: expected a divisor of {kernel.shape[0]}, got {given.group}")


def _bias(ctx: LiftingContext, node: Node, channels: int, position: int | None) -> Operand:
    if position is None or ctx.optional(node, position) is None:
        return np.zeros(channels)
    bias = _parameter(ctx, node, position)
    count = math.prod(bias.shape)
    if count != channels:
        ctx.fail(node, f"bias {node.input[position]} has {count} values, expected {channels}")
    return bias if isinstance(bias, Value) else bias.ravel()
