"""Where the axes of a tensor go in operators that move, drop or make some."""

import math
from collections.abc import Collection, Sequence

import numpy as np

from neat_onnx.lifting.context import Value
from neat_onnx.lifting.followed_axes import (
    FEATURE,
    FIRST,
    SECOND,
    UNKNOWN,
    AxisFollower,
    FollowedAxes,
    FollowedAxis,
    elements_before,
    follows,
    merged,
)
from neat_onnx.model import Node
from neat_onnx.operators.layout.arranging import Expand, ReverseSequence, Tile
from neat_onnx.operators.layout.each_step import at_each_step
from neat_onnx.operators.layout.indexed import GatherND, OneHot, ScatterND
from neat_onnx.operators.layout.reshaping import shape_of_one, states_samples
from neat_onnx.operators.layout.shaping import (
    Concat,
    Flatten,
    Gather,
    Reshape,
    Slice,
    Squeeze,
    Transpose,
    Unsqueeze,
)
from neat_onnx.operators.products.tensors import Einsum
from neat_onnx.operators.reductions.reduce import (
    ReduceL1,
    ReduceL2,
    ReduceLogSum,
    ReduceLogSumExp,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    ReduceSumSquare,
)
from neat_onnx.operators.rnn.nodes import GRU, LSTM, RNN, Recurrence
from neat_onnx.operators.rows.ranking import ArgMax, ArgMin
from neat_onnx.operators.sums.dense import Gemm


@follows(Transpose)
def transposed(axes: AxisFollower, node: Transpose) -> list[FollowedAxes]:
    """Follow the permutation."""
    first = axes.of(node.input[0])
    perm = node.attributes.perm or range(len(first))[::-1]
    return [tuple(first[axis] for axis in perm)]


@follows(Squeeze)
def squeezed(axes: AxisFollower, node: Squeeze) -> list[FollowedAxes]:
    """Leave out the axes that go."""
    first, given = axes.of(node.input[0]), axes.integers(node, 1)
    rank = axes.rank(node.output[0])
    if given is None and UNKNOWN not in first:
        sized = zip(axes.operands[node.input[0]].shape, first, strict=True)
        left = tuple(axis for size, axis in sized if (size, axis) != (1, FEATURE))
        return [left if len(left) == rank else (UNKNOWN,) * rank]
    return [_without(first, given, rank)]


@follows(Unsqueeze)
def unsqueezed(axes: AxisFollower, node: Unsqueeze) -> list[FollowedAxes]:
    """Put in axes of features."""
    rank, given = axes.rank(node.output[0]), axes.integers(node, 1)
    if given is None:
        return [(UNKNOWN,) * rank]
    fresh = {axis % rank for axis in given}
    left = iter(axes.of(node.input[0]))
    return [tuple(FEATURE if axis in fresh else next(left) for axis in range(rank))]


@follows(Expand)
def expanded(axes: AxisFollower, node: Expand) -> list[FollowedAxes]:
    """Put axes of features before the others, and time where there is a value for each step."""
    first, rank = axes.of(node.input[0]), axes.rank(node.output[0])
    sized = axes.sizes.get(node.input[1], np.zeros(rank, np.int64))
    sized = np.pad(sized, (max(0, rank - len(sized)), 0))
    steps = at_each_step(axes, node.input[0], sized.tolist())
    before = (FEATURE,) * (rank - len(first)) + first
    return [tuple(steps.get(at, kind) for at, kind in enumerate(before))]


@follows(Tile)
def tiled(axes: AxisFollower, node: Tile) -> list[FollowedAxes]:
    """The axes stay, and one of features that is repeated for each step is time."""
    first, sized = axes.of(node.input[0]), axes.sizes.get(node.input[1], np.zeros(0, np.int64))
    steps = at_each_step(axes, node.input[0], sized.tolist())
    return [tuple(steps.get(at, kind) for at, kind in enumerate(first))]


@follows(Gather)
def gathered(axes: AxisFollower, node: Gather) -> list[FollowedAxes]:
    """A single index takes its axis away; several ones put theirs in its place."""
    first, indices = (_computed(axes, name) for name in node.input)
    if not first:
        return [(UNKNOWN,) * axes.rank(node.output[0])]
    axis = node.attributes.axis % len(first)
    return [(*first[:axis], *indices, *first[axis + 1 :])]


@follows(Slice)
def sliced(axes: AxisFollower, node: Slice) -> list[FollowedAxes]:
    """The last step of a sequence is one of features; other slices keep their axes."""
    first = axes.of(node.input[0])
    if node.output[0] not in axes.ended or FIRST not in first:
        return [first]
    return [tuple(FEATURE if kind == FIRST else kind for kind in first)]


@follows(GatherND)
def gathered_at(axes: AxisFollower, node: GatherND) -> list[FollowedAxes]:
    """The shared axes, then the indices' own, then the rest of the data's."""
    data, indices = (_computed(axes, name) for name in node.input)
    batch, depth = node.attributes.batch_dims, axes.operands[node.input[1]].shape[-1]
    shared = merged([data[:batch], indices[:batch]], batch)
    return [(*shared, *indices[batch:-1], *data[batch + depth :])]


@follows(OneHot)
def one_hot(axes: AxisFollower, node: OneHot) -> list[FollowedAxes]:
    """Put in an axis of features."""
    index = axes.of(node.input[0])
    axis = node.attributes.axis % (len(index) + 1)
    return [(*index[:axis], FEATURE, *index[axis:])]


@follows(ScatterND, ReverseSequence)
def scattered(axes: AxisFollower, node: ScatterND | ReverseSequence) -> list[FollowedAxes]:
    """The axes of the data."""
    return [axes.of(node.input[0])]


@follows(ReduceL1, ReduceL2, ReduceLogSum, ReduceLogSumExp, ReduceMax)
@follows(ReduceMean, ReduceMin, ReduceProd, ReduceSum, ReduceSumSquare)
def reduced(axes: AxisFollower, node: Node) -> list[FollowedAxes]:
    """Leave out the axes that are reduced, where they are not kept with the length 1."""
    first, rank = axes.of(node.input[0]), axes.rank(node.output[0])
    given = getattr(node.attributes, "axes", None) or axes.integers(node, 1) or None
    return [_without(first, given, rank) if rank < len(first) else first]


@follows(ArgMax, ArgMin)
def indexed(axes: AxisFollower, node: ArgMax | ArgMin) -> list[FollowedAxes]:
    """Leave out the axis of the indices, where it is not kept with the length 1."""
    first, rank = axes.of(node.input[0]), axes.rank(node.output[0])
    return [_without(first, [node.attributes.axis], rank) if rank < len(first) else first]


@follows(Reshape)
def reshaped(axes: AxisFollower, node: Reshape) -> list[FollowedAxes]:
    """The batch stands where as many elements are before it as there were."""
    first, wanted = axes.of(node.input[0]), axes.integers(node, 1)
    if states_samples(axes, node):
        return [_of_samples(axes, node)]
    old = axes.operands[node.input[0]].shape
    before = elements_before(first, old)
    if wanted is None or before is None or axes.has_time:
        return [_leading(axes, node, _made_of(axes, node, wanted or []))]
    shape = axes.operands[node.output[0]].shape
    rank, sized = len(shape), axes.sizes.get(node.input[1])
    candidates = [
        axis for axis in range(rank) if shape[axis] == 1 and math.prod(shape[:axis]) == before
    ]
    if sized is not None:  # the batch is where its size, here 1, was put
        varying = np.flatnonzero(sized.ravel()).tolist()
    else:
        varying = _varying(first, wanted)
    if sized is not None or (varying and not axes.single):
        candidates = [axis for axis in candidates if axis in varying]
    else:
        outer = old[: next(axis for axis, kind in enumerate(first) if kind != FEATURE)]
        candidates.sort(key=lambda axis: (wanted[axis] > 0, shape[:axis] != outer))
    if candidates:
        return [tuple(FIRST if axis == candidates[0] else FEATURE for axis in range(rank))]
    return [_inside(shape, before, varying)]


def _varying(first: FollowedAxes, wanted: list[int]) -> list[int]:
    """The axes of a shape whose sizes vary with the batch: one that is copied, or is left open."""
    copied = zip(first, wanted, strict=False)
    found = [axis for axis, (kind, size) in enumerate(copied) if not size and kind != FEATURE]
    return found or [axis for axis, size in enumerate(wanted) if size == -1]


def _inside(shape: tuple[int, ...], before: int, varying: list[int]) -> FollowedAxes:
    """The batch is the only axis that varies, or a part of it with elements of a sample before."""
    if len(varying) == 1:
        axis, outer = varying[0], math.prod(shape[: varying[0]])
        if outer and before and before % outer == 0 and shape[axis] % (before // outer) == 0:
            inside = FIRST if shape[axis] == 1 else FollowedAxis.around(before // outer)
            return tuple(inside if k == axis else FEATURE for k in range(len(shape)))
    return (UNKNOWN,) * len(shape)


@follows(Concat)
def joined(axes: AxisFollower, node: Concat) -> list[FollowedAxes]:
    """Several batches one after the other are an axis with the batch inside."""
    axis, rank = node.attributes.axis, axes.rank(node.output[0])
    if axes.are_batches(node, axis) and len(node.input) > 1:
        axis %= rank
        inside = FollowedAxis.around(len(node.input))
        return [tuple(inside if k == axis else FEATURE for k in range(rank))]
    computed = [name for name in node.input if isinstance(axes.operands.get(name), Value)]
    return [merged([axes.of(name) for name in computed], rank)]


@follows(Flatten)
def flattened(axes: AxisFollower, node: Flatten) -> list[FollowedAxes]:
    """The batch is among the rows or among the columns."""
    if states_samples(axes, node):
        return [_of_samples(axes, node)]
    first, axis = axes.of(node.input[0]), node.attributes.axis
    before = elements_before(first, axes.operands[node.input[0]].shape)
    at = axis + len(first) if axis < 0 else axis
    if before is None or axes.has_time:
        return [_leading(axes, node, [first[:at], first[at:]])]
    batch = next(axis for axis, kind in enumerate(first) if kind != FEATURE)
    found = _inside(axes.operands[node.output[0]].shape, before, [int(batch >= at)])
    return [_leading(axes, node) if axes.single and FIRST not in found else found]


def _of_samples(axes: AxisFollower, node: Reshape | Flatten) -> FollowedAxes:
    """The axes of a shape that states how many samples there are."""
    found = shape_of_one(axes, node)
    return (UNKNOWN,) * axes.rank(node.output[0]) if found is None else found[1]


@follows(RNN, GRU, LSTM)
def recurrent(axes: AxisFollower, node: Recurrence) -> list[FollowedAxes]:
    """Every step, and the last states: a direction is a new axis."""
    x = axes.of(node.input[0])
    if len(x) != 3:
        return [(UNKNOWN,) * axes.rank(name) for name in node.output]
    if node.attributes.layout:
        batch, time, _ = x
        every, last = (batch, time, FEATURE, FEATURE), (batch, FEATURE, FEATURE)
    else:
        time, batch, _ = x
        every, last = (time, FEATURE, batch, FEATURE), (FEATURE, batch, FEATURE)
    return [every, last, last]


@follows(Gemm)
def multiplied(axes: AxisFollower, node: Gemm) -> list[FollowedAxes]:
    """The rows of one factor, the columns of the other; NeatapticTS gives it vectors, too."""
    if axes.rank(node.output[0]) == 1:
        return [axes.of(node.input[0])]
    given = node.attributes
    rows = _side(axes, node.input[0], 1 if given.transA else 0)
    return [(rows, _side(axes, node.input[1], 0 if given.transB else 1))]


@follows(Einsum)
def summed(axes: AxisFollower, node: Einsum) -> list[FollowedAxes]:
    """The letters of its equation say where axes go; one that is summed is a feature's."""
    left, _, result = node.attributes.equation.replace(" ", "").partition("->")
    unknown = [(UNKNOWN,) * axes.rank(node.output[0])]
    kinds: dict[str, set[FollowedAxis]] = {}
    for name, term in zip(node.input, left.split(","), strict=False):
        if isinstance(axes.operands.get(name), Value):
            followed = axes.of(name)
            if len(term) != len(followed) or not term.isalpha():
                return unknown
            for letter, axis in zip(term, followed, strict=True):
                kinds.setdefault(letter, set()).add(axis)
    found = {letter: axis - {FEATURE} for letter, axis in kinds.items()}
    gone = any(axis for letter, axis in found.items() if letter not in result)
    if gone or not result.isalpha() or any(len(axis) > 1 for axis in found.values()):
        return unknown
    return [tuple(next(iter(found.get(letter, ())), FEATURE) for letter in result)]


def _computed(axes: AxisFollower, name: str) -> FollowedAxes:
    """The axes of a tensor; a constant has features alone."""
    computed = isinstance(axes.operands.get(name), Value)
    return axes.of(name) if computed else (FEATURE,) * axes.rank(name)


def _side(axes: AxisFollower, factor: str, axis: int) -> FollowedAxis:
    """An axis of a factor of a product of matrices."""
    computed = isinstance(axes.operands.get(factor), Value)
    return axes.of(factor)[axis] if computed else FEATURE


def _made_of(axes: AxisFollower, node: Reshape, wanted: list[int]) -> list[FollowedAxes]:
    """The axes that each axis of a shape is made of; none where several sizes may be open."""
    first = axes.of(node.input[0])
    if wanted.count(-1) != 1 or node.input[1] in axes.sizes:
        return []
    copied = {at for at, size in enumerate(wanted[: len(first)]) if not size}
    rest = tuple(axis for at, axis in enumerate(first) if at not in copied)
    return [
        first[at : at + 1] if at in copied else rest if size == -1 else ()
        for at, size in enumerate(wanted)
    ]


def _leading(axes: AxisFollower, node: Node, made_of: Sequence[FollowedAxes] = ()) -> FollowedAxes:
    """The axes after a change of shape, which leaves the order of the elements.

    Args:
        axes: knows the axes of its input.
        node: the node, which has been lifted.
        made_of: the axes of the input that each is made of, as far as that is known.
    """
    first, operand = axes.of(node.input[0]), axes.operands.get(node.output[0])
    rank = axes.rank(node.output[0])
    found = [UNKNOWN] * rank
    if first and first[0] in (FIRST, SECOND) and rank and operand is not None:
        other = SECOND if first[0] == FIRST else FIRST
        second = other if axes.has_time and rank > 2 and operand.shape[1] == 1 else FEATURE
        found = [first[0], second, *[FEATURE] * rank][:rank]
    harmless = {FEATURE, UNKNOWN, SECOND} if axes.single else {FEATURE, UNKNOWN}
    for axis, each in enumerate(made_of):
        kinds = [kind for kind in each if kind not in harmless]
        if kinds and axis and operand is not None:
            found = [FEATURE if kind == UNKNOWN else kind for kind in found]
            found[axis] = kinds[0] if operand.shape[axis] == 1 else FollowedAxis.around(1)
    return tuple(found)


def _without(first: FollowedAxes, gone: Collection[int] | None, rank: int) -> FollowedAxes:
    if gone is None:
        return (UNKNOWN,) * rank
    left_out = {axis % len(first) for axis in gone}
    return tuple(kind for axis, kind in enumerate(first) if axis not in left_out)
