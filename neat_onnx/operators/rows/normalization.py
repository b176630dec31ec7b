"""The normalizations: of a batch by constants, of one sample by its own mean and spread.

BatchNormalization is a factor and a shift for each channel, which fold into the neurons before it.
The others are neurons: means, squares, a root, and gates by its reciprocal.
"""

from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.network.genes import Floats
from neat_onnx.operators.algebra import Algebra, reshaped
from neat_onnx.operators.formulas.affine import affine
from neat_onnx.operators.inner_tensors import as_neurons, bind_with_parts

_BY_CHANNEL_SINCE = 21
_EUCLIDEAN = 2
_TINY = 9.999999717180685e-10  # 1e-9 in float32, as the operator's definition has it
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
    if any(isinstance(ctx.operand(node, k), Value) for k in range(1, 5)):
        _bind_by_computed(ctx, node, channels)
        return
    scale, bias, mean, variance = (_parameter(ctx, node, k, channels) for k in range(1, 5))
    if np.any(variance + node.attributes.epsilon <= 0):
        ctx.fail(node, "a variance plus epsilon is not positive")
    factor = scale / np.sqrt(variance + node.attributes.epsilon)
    by_channel = (channels, *[1] * (len(value.shape) - _SHAPED))
    factors, shifts = (
        np.broadcast_to(each.reshape(by_channel), value.shape)
        for each in (factor, bias - mean * factor)
    )
    ctx.bind(node, affine(ctx, node, value, factors, shifts))


def _bind_by_computed(ctx: LiftingContext, node: BatchNormalization, channels: int) -> None:
    """Bind (x - mean) · scale / √(variance + epsilon) + bias, of parameters that are computed.

    All samples share them: [C] has no place for others.
    """
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    by_channel, parameters = (channels, *[1] * (len(x.shape) - _SHAPED)), []
    for position in range(1, 5):
        operand = tensors.input(position)
        if operand.shape != (channels,):
            name, shape = node.input[position], list(operand.shape)
            ctx.fail(node, f"{name} has the shape {shape}, expected {[channels]}")
        parameters.append(reshaped(operand, by_channel))
    scale, bias, mean, variance = parameters
    deviation = tensors("sqrt", tensors("add", variance, node.attributes.epsilon))
    factor = tensors("mul", scale, tensors("reciprocal", deviation))
    ctx.bind(node, tensors("add", tensors("mul", tensors("sub", x, mean), factor), bias))


def _parameter(ctx: LiftingContext, node: Node, position: int, channels: int) -> Floats:
    values = ctx.constant(node, position).ravel().astype(np.float64)
    if len(values) != channels:
        ctx.fail(node, f"{node.input[position]} has {len(values)} values, expected {channels}")
    return values


# --- by its own mean and spread ------------------------------------------------------------------


_Parts = dict[str, Operand]


def _centred(tensors: Algebra, x: Operand, axes: tuple[int, ...]) -> _Parts:
    """The mean, and x - mean, over some axes."""
    mean = tensors.reduced("mean", x, axes)
    return {"mean": mean, "centred": tensors("sub", x, mean)}


def _inverse_root(tensors: Algebra, x: Operand, axes: tuple[int, ...], epsilon: float) -> _Parts:
    """x², its mean, and the scale 1 / √(mean(x²) + epsilon)."""
    square = tensors("mul", x, x)
    power = tensors.reduced("mean", square, axes)
    scale = tensors("reciprocal", tensors("sqrt", tensors("add", power, epsilon)))
    return {"square": square, "power": power, "scale": scale}


def _normal(tensors: Algebra, x: Operand, axes: tuple[int, ...], epsilon: float) -> _Parts:
    """The parts of x by its own mean and deviation, but for the product of both."""
    parts = _centred(tensors, x, axes)
    return parts | _inverse_root(tensors, parts["centred"], axes, epsilon)


def _last_axes(ctx: LiftingContext, node: Node, axis: int, rank: int) -> tuple[int, ...]:
    (first,) = ctx.axes(node, [axis], rank)
    axes = tuple(range(first, rank))
    ctx.refuse_along(node, axes)
    return axes


@lifts(LayerNormalization)
def lift_layer_normalization(ctx: LiftingContext, node: LayerNormalization) -> None:
    """Lift LayerNormalization; not along the batch."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    parts = _normal(tensors, x, _last_axes(ctx, node, given.axis, len(x.shape)), given.epsilon)
    parts["normal"] = tensors("mul", parts["centred"], parts["scale"])
    result, shift = tensors("mul", parts["normal"], tensors.input(1)), tensors.optional(2)
    if shift is not None:
        parts["weighted"] = as_neurons(ctx, result)
        result = tensors("add", parts["weighted"], shift)
    bind_with_parts(ctx, node, result, parts, parts["mean"], parts["scale"])


@lifts(RMSNormalization)
def lift_rms_normalization(ctx: LiftingContext, node: RMSNormalization) -> None:
    """Lift RMSNormalization; not along the batch."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    axes = _last_axes(ctx, node, given.axis, len(x.shape))
    parts = _inverse_root(tensors, x, axes, given.epsilon)
    parts["normal"] = tensors("mul", x, parts["scale"])
    bind_with_parts(ctx, node, tensors("mul", parts["normal"], tensors.input(1)), parts)


@lifts(InstanceNormalization)
def lift_instance_normalization(ctx: LiftingContext, node: InstanceNormalization) -> None:
    """Lift InstanceNormalization: each channel of each sample by its mean and deviation."""
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    rank = len(x.shape)
    if rank <= _SHAPED:
        ctx.fail(node, f"its input has {rank} axes, expected batch, channels and space")
    ctx.refuse_along(node, range(2, rank), 0)
    grouped = reshaped(x, (*x.shape[:_SHAPED], 1, -1))
    _bind_grouped(ctx, node, tensors, grouped, node.attributes.epsilon, x.shape)


def _bind_grouped(
    ctx: LiftingContext,
    node: Node,
    tensors: Algebra,
    x: Operand,
    epsilon: float,
    shape: tuple[int, ...],
) -> None:
    """Bind x [N, groups, channels of each, space] by the mean and deviation of each group.

    The node's second and third input are the factors and shifts, for each group or each channel.
    """
    parts = _normal(tensors, x, (2, 3), epsilon)
    by_channel = ctx.model.opset >= _BY_CHANNEL_SINCE or x.shape[2] == 1
    sizes = (x.shape[1], x.shape[2] if by_channel else 1, 1)
    scale, shift = (tensors.input_in(sizes, position) for position in (1, 2))
    parts["scale"] = as_neurons(ctx, parts["scale"])
    parts["factor"] = tensors("mul", parts["scale"], scale)
    parts["weighted"] = tensors("mul", parts["centred"], parts["factor"])
    result = tensors("add", parts["weighted"], shift)
    bind_with_parts(ctx, node, reshaped(result, shape), parts)


@lifts(GroupNormalization)
def lift_group_normalization(ctx: LiftingContext, node: GroupNormalization) -> None:
    """Lift GroupNormalization: each group of channels by its mean and deviation."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    shape, groups = x.shape, given.num_groups
    if len(shape) < _SHAPED or groups < 1 or shape[1] % groups:
        ctx.fail(node, f"its input has the shape {list(shape)}, num_groups is {groups}")
    ctx.refuse_along(node, range(1, len(shape)), 0)
    grouped = reshaped(x, (shape[0], groups, shape[1] // groups, -1))
    _bind_grouped(ctx, node, tensors, grouped, given.epsilon, shape)


@lifts(LpNormalization)
def lift_lp_normalization(ctx: LiftingContext, node: LpNormalization) -> None:
    """A vector of zeros stays one."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    (axis,) = ctx.axes(node, [given.axis], len(x.shape))
    ctx.refuse_along(node, (axis,))
    square = tensors("abs", x) if given.p == 1 else tensors("mul", x, x)
    norm = tensors.reduced("sum", square, (axis,))
    if given.p == _EUCLIDEAN:
        norm = tensors("sqrt", norm)
    is_zero = tensors("equal", norm, 0.0)
    scale = tensors("where", is_zero, 0.0, tensors("reciprocal", norm))
    parts = {"square": square, "scale": scale}
    bind_with_parts(ctx, node, tensors("mul", x, scale), parts)


@lifts(LRN)
def lift_lrn(ctx: LiftingContext, node: LRN) -> None:
    """Lift LRN: each value divided by a power of the sum of squares of neighbouring channels."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    if len(x.shape) < _SHAPED or given.size < 1:
        ctx.fail(node, f"its input has the shape {list(x.shape)}, size is {given.size}")
    if given.size % 2 == 0:
        ctx.fail(node, f"size is {given.size}, expected an odd one: runtimes differ about others")
    ctx.refuse_along(node, (1,), 0)
    channel = np.arange(x.shape[1])
    distance = channel[None, :] - channel[:, None]  # how far the one read stands behind
    before, after = (given.size - 1) // 2, given.size // 2
    near = ((distance >= -before) & (distance <= after)).astype(np.float64)
    power = tensors.along(tensors("mul", x, x), 1, near * (given.alpha / given.size))
    inverse = tensors("pow", tensors("add", power, given.bias), -given.beta)
    ctx.bind(node, tensors("mul", x, inverse))


@lifts(MeanVarianceNormalization)
def lift_mean_variance(ctx: LiftingContext, node: MeanVarianceNormalization) -> None:
    """Lift MeanVarianceNormalization; not along the batch."""
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    axes = ctx.axes(node, node.attributes.axes, len(x.shape))
    ctx.refuse_along(node, axes)
    parts = _centred(tensors, x, axes)
    parts["square"] = tensors("mul", parts["centred"], parts["centred"])
    power = tensors.reduced("mean", parts["square"], axes)
    parts["scale"] = tensors("reciprocal", tensors("add", tensors("sqrt", power), _TINY))
    bind_with_parts(ctx, node, tensors("mul", parts["centred"], parts["scale"]), parts)
