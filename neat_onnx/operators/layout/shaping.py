"""Concat, Split, Gather, Transpose and their kind: elements move, nothing is computed.

Lifting them rearranges signals and costs nothing.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from neat_onnx.errors import abridged
from neat_onnx.lifting.context import Array, LiftingContext, Value, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.network.expression import VARIABLE
from neat_onnx.operators.layout.last_step import takes_last_step


class ConcatAttributes(Attributes):
    """Attributes of Concat: the axis."""

    axis: int


class Concat(Node):
    """The inputs joined along one axis; batches are taken apart again by a Reshape."""

    inputs = (1, None)
    since = 13
    unaligned = 0
    picks = True
    attributes: ConcatAttributes


class SplitAttributes(Attributes):
    """Attributes of Split: the axis, and the number of outputs from opset 18 on."""

    axis: int = 0
    num_outputs: int | None = None


class Split(Node):
    """Parts of X along one axis, of constant sizes or of equal ones."""

    inputs = (1, 2)
    outputs = (1, None)
    since = 13
    picks = True
    attributes: SplitAttributes = SplitAttributes.defaults()


class GatherAttributes(Attributes):
    """Attributes of Gather: the axis."""

    axis: int = 0


class Gather(Node):
    """The slices along one axis at constant indices; of a constant at computed ones, too."""

    inputs = (2, 2)
    since = 13
    picks = True
    attributes: GatherAttributes = GatherAttributes.defaults()


class ReshapeAttributes(Attributes):
    """Attributes of Reshape: whether a 0 in the shape is a size, or copies that of the input."""

    allowzero: int = 0


class Reshape(Node):
    """The same elements, in C order, in a constant shape."""

    inputs = (2, 2)
    since = 13
    shape_inputs = frozenset({1})
    picks = True
    attributes: ReshapeAttributes = ReshapeAttributes.defaults()


class FlattenAttributes(Attributes):
    """Attributes of Flatten: the axis from which on elements are in one row."""

    axis: int = 1


class Flatten(Node):
    """A matrix: the axes before `axis` as rows, the others as columns."""

    since = 13
    picks = True
    attributes: FlattenAttributes = FlattenAttributes.defaults()


class TransposeAttributes(Attributes):
    """Attributes of Transpose: the order of axes; None reverses them."""

    perm: tuple[int, ...] | None = None


class Transpose(Node):
    """The axes in another order."""

    since = 13
    picks = True
    attributes: TransposeAttributes = TransposeAttributes.defaults()


class Squeeze(Node):
    """X without some axes of length 1, or without all of them."""

    inputs = (1, 2)
    since = 13
    picks = True


class Unsqueeze(Node):
    """X with new axes of length 1 at constant places."""

    inputs = (2, 2)
    since = 13
    picks = True


class Slice(Node):
    """Parts of some axes: constant starts, ends and steps."""

    inputs = (3, 5)
    shape_inputs = frozenset({2})
    since = 13
    picks = True


class Identity(Node):
    """X itself."""

    since = 13
    elementwise = True
    picks = True


class DropoutAttributes(Attributes):
    """Attributes of Dropout: the seed, which is for training only."""

    seed: int | None = None


class Dropout(Node):
    """The identity, as in inference; an optional mask that keeps everything."""

    inputs = (1, 3)
    outputs = (1, 2)
    since = 13
    attributes: DropoutAttributes = DropoutAttributes.defaults()


_END = 1 << 24  # an end from which on a slice goes as far as the axis: no batch is as large


@lifts(Identity, infinite=True)
def lift_identity(ctx: LiftingContext, node: Identity) -> None:
    """Lift Identity: its output is its input, but neurons end here, as export writes it for them.

    Sums, and values that have been weighed or gated, become neurons; no later bias, response or
    function goes past it. A pre-activation that no node reads, but the next step, stays one.
    """
    x = ctx.operand(node, 0)
    if isinstance(x, Value):
        grows = x.elementwise and (
            x.formula != VARIABLE or not ctx.wiring.operators_reading(node.output[0])
        )
        x = replace(x, made=None) if grows else Value(ctx.materialize(x))
    ctx.bind(node, x)


@lifts(Dropout)
def lift_dropout(ctx: LiftingContext, node: Dropout) -> None:
    """The identity, and a mask that keeps all: in training it would be random."""
    x = ctx.operand(node, 0)
    training = ctx.optional(node, 2) is not None and np.any(ctx.constant(node, 2))
    ratio = 0.5 if ctx.optional(node, 1) is None else float(ctx.constant(node, 1).ravel()[0])
    if training and ratio > 0.0:
        ctx.fail(node, "its training_mode is true: it leaves out values at random")
    ctx.bind(node, x, np.ones(x.shape, np.bool_))


@lifts(Concat)
def lift_concat(ctx: LiftingContext, node: Concat) -> None:
    """Lift Concat: signals beside each other; along the batch, one batch after the other."""
    parts = [ctx.operand(node, position) for position in range(len(node.input))]
    arrays = [part for part in parts if not isinstance(part, Value)]
    axis = _joined_axis(ctx, node, [part.shape for part in parts])
    # as a table of scores, transposed
    is_reshaped = ctx.wiring.operators_reading(node.output[0]) == {"Reshape"}
    if not (is_reshaped and ctx.followed.are_batches(node, axis)):
        refuse_samples(ctx, node, [axis])
    if len(arrays) == len(parts):
        ctx.bind(node, np.concatenate(arrays, axis=axis))
        if not ctx.sizes.keys().isdisjoint(node.input):
            ctx.sizes[node.output[0]] = np.concatenate(
                [ctx.sizes.get(name, np.zeros(part.shape, np.int64))
                 for name, part in zip(node.input, arrays, strict=True)], axis=axis
            )  # fmt: skip
        return
    values = [_only_gated(ctx, ctx.as_value(node, part)) for part in parts]
    signals = np.concatenate([value.signals for value in values], axis=axis)
    gate = None
    if not all(value.plain for value in values):
        gate = np.concatenate([value.gates for value in values], axis=axis)
    ctx.bind(node, Value(signals, gate=gate))


def _joined_axis(ctx: LiftingContext, node: Concat, shapes: Sequence[tuple[int, ...]]) -> int:
    """The axis along which inputs of these shapes are joined, counted from 0.

    Raises:
        ModelError: there is no such axis, or the shapes differ beside it.
    """
    (axis,) = ctx.axes(node, [node.attributes.axis], len(shapes[0]))
    if len({(len(shape), *shape[:axis], *shape[axis + 1 :]) for shape in shapes}) > 1:
        listed = abridged(str(list(shape)) for shape in shapes)
        ctx.fail(node, f"its inputs have the shapes {listed}, which differ beside axis {axis}")
    return axis


def _only_gated(ctx: LiftingContext, value: Value) -> Value:
    """The value as signals and their gates, which a sum can read without a neuron between."""
    return (
        value
        if value.unweighted and value not in ctx.materialized
        else Value(ctx.materialize(value))
    )


@lifts(Split)
def lift_split(ctx: LiftingContext, node: Split) -> None:
    """Lift Split: parts of the signals; not along the batch."""
    shape = _shape(ctx, node)
    (axis,) = ctx.axes(node, [node.attributes.axis], len(shape))
    if ctx.optional(node, 1) is not None:
        sizes = ctx.integers(node, 1)
    else:
        size = math.ceil(shape[axis] / len(node.output))
        sizes = [min(size, shape[axis] - size * k) for k in range(len(node.output))]
    if len(sizes) != len(node.output) or sum(sizes) != shape[axis] or min(sizes) < 0:
        ctx.fail(node, f"splits {shape[axis]} into {sizes} for {len(node.output)} outputs")
    refuse_samples(ctx, node, [axis])
    if node.attributes.num_outputs not in (None, len(node.output)):
        ctx.fail(node, f"num_outputs is {node.attributes.num_outputs}, it has {len(node.output)}")
    stops = np.cumsum(sizes).tolist()
    operand = ctx.operand(node, 0)
    whole = operand.order if isinstance(operand, Value) else operand  # once for all parts
    before = (slice(None),) * axis
    parts = (
        whole[(*before, slice(stop - size, stop))] for stop, size in zip(stops, sizes, strict=True)
    )
    ctx.bind(node, *map(operand.taken, parts) if isinstance(operand, Value) else parts)


@lifts(Transpose, infinite=True)
def lift_transpose(ctx: LiftingContext, node: Transpose) -> None:
    """Lift Transpose: the same signals, their axes in another order."""
    perm, rank = node.attributes.perm, len(ctx.operand(node, 0).shape)
    if perm is not None and sorted(perm) != list(range(rank)):  # numpy takes 2⁶³ - 1 for -1
        ctx.fail(node, f"perm is {list(perm)}, expected each of {rank} axes once")
    rearrange(ctx, node, lambda array: np.transpose(array, perm))


@lifts(Slice, infinite=True)
def lift_slice(ctx: LiftingContext, node: Slice) -> None:
    """Lift Slice: a choice of signals by constant starts, ends and steps."""
    starts, ends = ctx.integers(node, 1), ctx.integers(node, 2)
    rank = len(_shape(ctx, node))
    given = ctx.integers(node, 3) if ctx.optional(node, 3) is not None else range(len(starts))
    steps = ctx.integers(node, 4) if ctx.optional(node, 4) is not None else [1] * len(starts)
    counts = [len(each) for each in (starts, ends, given, steps)]
    if len({*counts}) > 1 or 0 in steps:
        ctx.fail(node, f"it has {counts} starts, ends, axes and steps; its steps are {steps}")
    axes = ctx.axes(node, given, rank)
    parts = [slice(None)] * rank
    ends_of_axes = _ends(ctx, node)
    sized = ctx.sizes.get(node.input[2], np.zeros(len(ends), np.int64))
    for at, (axis, start, end, step) in enumerate(zip(axes, starts, ends, steps, strict=True)):
        if sized[at] and not ((start, step) == (0, 1) and ctx.is_batch(node.input[0], axis)):
            ctx.refuse_size(node, node.input[2])
        whole = (start, step) == (0, 1) and (sized[at] or end >= ends_of_axes[axis])
        stop = None if whole or (step < 0 and end <= -(2**31)) else end
        parts[axis] = slice(None if whole else start, stop, step)
    taken = [axis for axis in axes if parts[axis] != slice(None, None, 1)]
    last = {axis for axis in taken if _is_last(parts[axis], ends_of_axes[axis])}
    steps_left = {axis for axis in last if takes_last_step(ctx, node, axis)}
    refuse_samples(ctx, node, [axis for axis in taken if axis not in steps_left])
    rearrange(ctx, node, lambda array: array[tuple(parts)])


def _is_last(part: slice, end_of_axis: int) -> bool:
    """Whether a part of an axis is its last element, whatever its length."""
    return (part.start, part.step) == (-1, 1) and part.stop >= end_of_axis


def _ends(ctx: LiftingContext, node: Slice) -> list[int]:
    """For each axis, the end from which on a slice takes all of it, the batch or not."""
    whole = ctx.whole_shape(node.input[0])
    return [
        size if size > of_one else _END
        for size, of_one in zip(whole, _shape(ctx, node), strict=True)
    ]


def refuse_samples(ctx: LiftingContext, node: Node, axes: Iterable[int]) -> None:
    """Refuse to take or join samples of the batch, where there is one."""
    operands = (ctx.operand(node, position) for position in range(len(node.input)))
    computed = next((operand for operand in operands if isinstance(operand, Value)), None)
    if computed is not None:
        rank = len(computed.shape)
        ctx.refuse_along(node, [axis % rank for axis in axes if rank])


def _shape(ctx: LiftingContext, node: Node) -> tuple[int, ...]:
    return ctx.operand(node, 0).shape


def rearrange(ctx: LiftingContext, node: Node, change: Callable[[Array], Array]) -> None:
    """Bind the first input with `change` applied to the array of its elements."""
    given, result = ctx.facts[node.input[0]], ctx.facts[node.output[0]]
    result.is_whole |= given.is_whole
    if isinstance(choice := given.chosen, Value):
        moved = change(np.arange(math.prod(choice.shape[:-1])).reshape(choice.shape[:-1]))
        of_place = choice.order.reshape(-1, choice.shape[-1])
        result.chosen = choice.taken(of_place[moved])
    operand = ctx.operand(node, 0)
    if isinstance(operand, Value):
        ctx.bind(node, operand.rearranged(change))
        return
    ctx.bind(node, change(operand))
    if node.input[0] in ctx.sizes:
        ctx.sizes[node.output[0]] = change(ctx.sizes[node.input[0]])
