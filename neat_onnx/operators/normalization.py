"""The normalizations: of a batch by constants, of one sample by its own mean and spread.

BatchNormalization is a factor and a shift for each channel, which fold into the neurons before it.
The others are neurons: means, squares, a root, and gates by its reciprocal.
"""

from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.network.genes import Floats
from neat_onnx.operators.algebra import Algebra, reshaped
from neat_onnx.operators.arithmetic import affine
from neat_onnx.operators.inside import bind_with_parts

_BY_CHANNEL_SINCE = 21
_EUCLIDEAN = 2
_TINY = 1e-9  # as the operator's definition has it
_SHAPED = 2  # the batch and the channels; space may follow


class BatchNormalizationAttributes(Attributes):
    """Attributes of BatchNormalization: epsilon; momentum is for training, which is refused."""

    epsilon: float = 1e-5
    momentum: float = 0.9
    training_mode: Literal[0] = 0


class BatchNormalization(Node):
    """X [N, C, …], then scale, B, mean and variance, each [C]; momentum is for training only."""

    inputs = (5, 5)
    since = 9
    attributes: BatchNormalizationAttributes = BatchNormalizationAttributes.defaults()


class LayerNormalizationAttributes(Attributes):
    """Attributes of LayerNormalization: the first normalised axis, and epsilon."""

    axis: int = -1
    epsilon: float = 1e-5
    stash_type: Literal[1] = 1


class LayerNormalization(Node):
    """X, Scale, B; the mean and the reciprocal of the deviation are optional outputs."""

    inputs = (2, 3)
    outputs = (1, 3)
    since = 17
    attributes: LayerNormalizationAttributes = LayerNormalizationAttributes.defaults()


class RMSNormalizationAttributes(Attributes):
    """Attributes of RMSNormalization: the first normalised axis, and epsilon."""

    axis: int = -1
    epsilon: float = 1e-5
    stash_type: Literal[1] = 1


class RMSNormalization(Node):
    """x / sqrt(mean(x²) + epsilon) · scale, over the last axes from `axis` on."""

    inputs = (2, 2)
    since = 23
    attributes: RMSNormalizationAttributes = RMSNormalizationAttributes.defaults()


class InstanceNormalizationAttributes(Attributes):
    """Attributes of InstanceNormalization: epsilon."""

    epsilon: float = 1e-5


class InstanceNormalization(Node):
    """X [N, C, …], scale [C], B [C]."""

    inputs = (3, 3)
    since = 6
    attributes: InstanceNormalizationAttributes = InstanceNormalizationAttributes.defaults()


class GroupNormalizationAttributes(Attributes):
    """Attributes of GroupNormalization: the number of groups of channels, and epsilon."""

    num_groups: int
    epsilon: float = 1e-5
    stash_type: Literal[1] = 1


class GroupNormalization(Node):
    """X [N, C, …], scale, bias: for each group up to opset 20, for each channel after."""

    inputs = (3, 3)
    since = 18
    attributes: GroupNormalizationAttributes


class LpNormalizationAttributes(Attributes):
    """Attributes of LpNormalization: the axis, and the norm, 1 or 2."""

    axis: int = -1
    p: Literal[1, 2] = 2


class LpNormalization(Node):
    """x divided by its norm of order p along one axis."""

    attributes: LpNormalizationAttributes = LpNormalizationAttributes.defaults()


class LRNAttributes(Attributes):
    """Attributes of LRN: the number of channels, alpha, beta and bias."""

    alpha: float = 0.0001
    beta: float = 0.75
    bias: float = 1.0
    size: int


class LRN(Node):
    """X [N, C, …]: each value by the squares of the channels beside it."""

    since = 13
    attributes: LRNAttributes


class MeanVarianceNormalizationAttributes(Attributes):
    """Attributes of MeanVarianceNormalization: the axes."""

    axes: tuple[int, ...] = (0, 2, 3)


class MeanVarianceNormalization(Node):
    """(x - mean) / deviation over some axes."""

    since = 13
    attributes: MeanVarianceNormalizationAttributes = MeanVarianceNormalizationAttributes.defaults()


@lifts(BatchNormalization)
def lift_batch_normalization(ctx: LiftingContext, node: BatchNormalization) -> None:
    """Lift BatchNormalization in inference: an affine function of each channel."""
    value = ctx.value(node, 0)
    if len(value.shape) < _SHAPED:
        ctx.fail(node, f"its input has the shape {list(value.shape)}, expected batch and channels")
    channels = value.shape[1]
    scale, bias, mean, variance = (_parameter(ctx, node, k, channels) for k in range(1, 5))
    if np.any(variance + node.attributes.epsilon <= 0):
        ctx.fail(node, "a variance plus epsilon is not positive")
    factor = scale / np.sqrt(variance + node.attributes.epsilon)
    by_channel = (channels, *[1] * (len(value.shape) - _SHAPED))
    factors, shifts = (
        np.broadcast_to(each.reshape(by_channel), value.shape)
        for each in (factor, bias - mean * factor)
    )
    ctx.bind(node, affine(ctx, value, factors, shifts))


def _parameter(ctx: LiftingContext, node: Node, position: int, channels: int) -> Floats:
    values = ctx.constant(node, position).ravel().astype(np.float64)
    if len(values) != channels:
        ctx.fail(node, f"{node.input[position]} has {len(values)} values, expected {channels}")
    return values


# --- by its own mean and spread ------------------------------------------------------------------


def _centred(tensors: Algebra, x: Operand, axes: tuple[int, ...]) -> tuple[Operand, Operand]:
    """(mean, x - mean) over some axes."""
    mean = tensors.reduced("mean", x, axes)
    return mean, tensors("sub", x, mean)


def _inverse_root(tensors: Algebra, x: Operand, axes: tuple[int, ...], epsilon: float) -> Operand:
    """1 / √(mean(x²) + epsilon)."""
    power = tensors.reduced("mean", tensors("mul", x, x), axes)
    return tensors("reciprocal", tensors("sqrt", tensors("add", power, epsilon)))


def _scaled(tensors: Algebra, x: Operand, scale: Operand, shift: Operand | None) -> Operand:
    found = tensors("mul", x, scale)
    return found if shift is None else tensors("add", found, shift)


def _last_axes(ctx: LiftingContext, node: Node, axis: int, rank: int) -> tuple[int, ...]:
    (first,) = ctx.axes(node, [axis], rank)
    axes = tuple(range(first, rank))
    ctx.refuse_batch(node, axes)
    return axes


@lifts(LayerNormalization)
def lift_layer_normalization(ctx: LiftingContext, node: LayerNormalization) -> None:
    """Lift LayerNormalization; not along the batch."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    axes = _last_axes(ctx, node, given.axis, len(x.shape))
    mean, centred = _centred(tensors, x, axes)
    square = tensors("mul", centred, centred)
    power = tensors.reduced("mean", square, axes)
    inverse = tensors("reciprocal", tensors("sqrt", tensors("add", power, given.epsilon)))
    normal = tensors("mul", centred, inverse)
    weighted, shift = tensors("mul", normal, tensors.input(1)), tensors.optional(2)
    scaled = weighted if shift is None else tensors("add", weighted, shift)
    parts = {"mean": mean, "centred": centred, "square": square, "power": power}
    parts |= {"scale": inverse, "normal": normal}
    if shift is not None:
        parts["weighted"] = weighted
    bind_with_parts(ctx, node, scaled, parts, mean, inverse)


@lifts(RMSNormalization)
def lift_rms_normalization(ctx: LiftingContext, node: RMSNormalization) -> None:
    """Lift RMSNormalization; not along the batch."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    axes = _last_axes(ctx, node, given.axis, len(x.shape))
    normal = tensors("mul", x, _inverse_root(tensors, x, axes, given.epsilon))
    ctx.bind(node, _scaled(tensors, normal, tensors.input(1), None))


def _channels(operand: Operand, rank: int) -> Operand:
    """A parameter of each channel, to broadcast with [N, C, …]."""
    return reshaped(operand, (-1, *[1] * (rank - _SHAPED)))


@lifts(InstanceNormalization)
def lift_instance_normalization(ctx: LiftingContext, node: InstanceNormalization) -> None:
    """Lift InstanceNormalization: each channel of each sample by its mean and deviation."""
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    rank = len(x.shape)
    if rank <= _SHAPED:
        ctx.fail(node, f"its input has {rank} axes, expected batch, channels and space")
    axes = tuple(range(_SHAPED, rank))
    _, centred = _centred(tensors, x, axes)
    inverse = _inverse_root(tensors, centred, axes, node.attributes.epsilon)
    scale, shift = (_channels(tensors.input(k), rank) for k in (1, 2))
    ctx.bind(node, _scaled(tensors, tensors("mul", centred, inverse), scale, shift))


@lifts(GroupNormalization)
def lift_group_normalization(ctx: LiftingContext, node: GroupNormalization) -> None:
    """Lift GroupNormalization: each group of channels by its mean and deviation."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    shape, groups = x.shape, given.num_groups
    if len(shape) < _SHAPED or groups < 1 or shape[1] % groups:
        ctx.fail(node, f"its input has the shape {list(shape)}, num_groups is {groups}")
    grouped = reshaped(x, (shape[0], groups, -1))
    _, centred = _centred(tensors, grouped, (2,))
    normal = tensors("mul", centred, _inverse_root(tensors, centred, (2,), given.epsilon))
    each = [tensors.input(1), tensors.input(2)]
    if ctx.model.opset < _BY_CHANNEL_SINCE:
        scale, shift = (reshaped(values, (-1, 1)) for values in each)
        ctx.bind(node, reshaped(_scaled(tensors, normal, scale, shift), shape))
        return
    scale, shift = (_channels(values, len(shape)) for values in each)
    ctx.bind(node, _scaled(tensors, reshaped(normal, shape), scale, shift))


@lifts(LpNormalization)
def lift_lp_normalization(ctx: LiftingContext, node: LpNormalization) -> None:
    """A vector of zeros stays one."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    (axis, *_) = _last_axes(ctx, node, given.axis, len(x.shape))
    part = tensors("abs", x) if given.p == 1 else tensors("mul", x, x)
    norm = tensors.reduced("sum", part, (axis,))
    if given.p == _EUCLIDEAN:
        norm = tensors("sqrt", norm)
    is_zero = tensors("equal", norm, 0.0)
    inverse = tensors("where", is_zero, 0.0, tensors("reciprocal", norm))
    ctx.bind(node, tensors("mul", x, inverse))


@lifts(LRN)
def lift_lrn(ctx: LiftingContext, node: LRN) -> None:
    """Lift LRN: each value divided by a power of the sum of squares of neighbouring channels."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    if len(x.shape) < _SHAPED or given.size < 1:
        ctx.fail(node, f"its input has the shape {list(x.shape)}, size is {given.size}")
    channel = np.arange(x.shape[1])
    apart = channel[None, :] - channel[:, None]  # how far the one read stands behind
    before, after = (given.size - 1) // 2, given.size // 2
    near = ((apart >= -before) & (apart <= after)).astype(np.float64)
    power = tensors.along(tensors("mul", x, x), 1, near * (given.alpha / given.size))
    inverse = tensors("pow", tensors("add", power, given.bias), -given.beta)
    ctx.bind(node, tensors("mul", x, inverse))


@lifts(MeanVarianceNormalization)
def lift_mean_variance(ctx: LiftingContext, node: MeanVarianceNormalization) -> None:
    """Lift MeanVarianceNormalization; not along the batch."""
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    axes = ctx.axes(node, node.attributes.axes, len(x.shape))
    ctx.refuse_batch(node, axes)
    _, centred = _centred(tensors, x, axes)
    power = tensors.reduced("mean", tensors("mul", centred, centred), axes)
    deviation = tensors("add", tensors("sqrt", power), _TINY)
    ctx.bind(node, tensors("div", centred, deviation))
