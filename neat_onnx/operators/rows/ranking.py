"""ArgMax, ArgMin and TopK: indices in an order, as numbers that neurons compute by comparisons.

Where their readers make them a part of an aggregation, maxabs or median, or a place in an order of
their own, they are that part.
"""

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.lifting.recognition import is_part
from neat_onnx.model import Attributes, DataType, Node
from neat_onnx.model.budget import Budget
from neat_onnx.network.expression import VARIABLE, call, clip
from neat_onnx.operators.algebra import Algebra, rearranged
from neat_onnx.operators.formulas.formula import apply_formula, formula_of
from neat_onnx.operators.formulas.guarded import are_finite
from neat_onnx.operators.inner_tensors import bind_with_parts
from neat_onnx.operators.layout.arranging import axis_of
from neat_onnx.operators.layout.indexed import gather_elements
from neat_onnx.operators.layout.lookup import gather_elements_at, taken
from neat_onnx.operators.rows.selection import choices, first_hit, hits_of, index_of, is_by_rounds


class IndexAttributes(Attributes):
    """Attributes of ArgMax and ArgMin: the axis, and the choice between equal elements."""

    axis: int = 0
    keepdims: Literal[0, 1] = 1
    select_last_index: Literal[0, 1] = 0


class ArgMax(Node):
    """The index of the largest element along an axis."""

    since = 13
    exact = True
    attributes: IndexAttributes = IndexAttributes.defaults()


class ArgMin(Node):
    """The index of the smallest element along an axis."""

    since = 13
    exact = True
    attributes: IndexAttributes = IndexAttributes.defaults()


class GatherElementsAttributes(Attributes):
    """Attributes of GatherElements: the axis."""

    axis: int = 0


class GatherElements(Node):
    """The elements at indices along one axis, an index for each element of the result."""

    inputs = (2, 2)
    since = 13
    picks = True
    attributes: GatherElementsAttributes = GatherElementsAttributes.defaults()


class TopKAttributes(Attributes):
    """Attributes of TopK: the axis, and whether the largest are taken; sorted only."""

    axis: int = -1
    largest: Literal[0, 1] = 1
    sorted: Literal[1] = 1


class TopK(Node):
    """The k largest or smallest elements along an axis, sorted, and their indices."""

    inputs = (2, 2)
    outputs = (2, 2)
    since = 11
    picks = True
    attributes: TopKAttributes = TopKAttributes.defaults()


_LARGEST = {DataType.FLOAT16: 2.0**15, DataType.DOUBLE: 2.0**1000}


def lift_index(ctx: LiftingContext, node: Node, *, largest: bool) -> None:
    """Bind the index of the largest along an axis, or of the smallest."""
    given = node.attributes
    assert isinstance(given, IndexAttributes)
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    axis = axis_of(ctx, node, given.axis, len(x.shape))
    if not largest or given.select_last_index:  # where all are -∞, no hit is the first index
        x = _in_order(ctx, x)
    last = bool(given.select_last_index)
    if last:
        x = rearranged(x, lambda array: np.flip(array, axis))
    extreme, hits = hits_of(tensors, x, (axis,), "max" if largest else "min")
    choice = first_hit(tensors, hits, axis)
    index = index_of(tensors, choice, axis, keepdims=bool(given.keepdims), backwards=last)
    read = rearranged(choice, lambda array: np.delete(array, 0, axis))  # index 0 weighs nothing
    parts = {"largest": extreme, "hits": hits, "first": read}
    bind_with_parts(ctx, node, index, parts)
    ctx.facts[node.output[0]].bounds = 0, x.shape[axis] - 1
    ctx.integer.add(node.output[0])


def lift_ordered(ctx: LiftingContext, node: Node, axis: int, *, largest: bool) -> None:
    """Bind the first k values along an axis in their order, and their indices."""
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    axis = axis_of(ctx, node, axis, len(x.shape))
    count = ctx.integer_of(node, 1)
    size = x.shape[axis]
    if not 0 < count <= size:
        ctx.fail(node, f"k is {count}, for {size} elements")
    ctx.check_size(node, int(np.prod(x.shape, dtype=object)) * size)
    x = rearranged(x, lambda array: np.moveaxis(array, axis, -1))
    ordered = _in_order(ctx, x)
    if is_by_rounds(count, size):
        choice = choices(tensors, ordered, count, largest=largest)
    else:
        Budget().take("elements", size * math.comb(size, 2), node.label)
        choice = _by_rank(tensors, ordered, count, largest=largest)
    indices = index_of(tensors, choice, len(choice.shape) - 1, keepdims=False)
    rows = rearranged(x, lambda array: array[..., None, :])
    values = x if size == 1 else taken(ctx, node, rows, choice, -1)
    ctx.bind(
        node, *(rearranged(each, lambda array: np.moveaxis(array, -1, axis))
                for each in (values, indices))
    )  # fmt: skip
    if axis == len(x.shape) - 1:
        ctx.facts[node.output[1]].chosen = choice
    ctx.facts[node.output[1]].bounds = 0, size - 1
    ctx.integer.add(node.output[1])


def _in_order(ctx: LiftingContext, x: Operand) -> Operand:
    """The elements, with the largest numbers in place of infinities, which have no difference."""
    if not isinstance(x, Value) or are_finite(ctx, x):
        return x
    most = _LARGEST.get(ctx.data_type, float(np.finfo(np.float32).max))
    return formula_of(ctx, Value(ctx.materialize(x)), clip(VARIABLE, -most, most))


def _by_rank(tensors: Algebra, x: Operand, count: int, *, largest: bool) -> Operand:
    """For each of the first `count` ranks, 1 for the element of the last axis there, else 0."""
    rank = _ranks(tensors, x, largest=largest)
    wanted = np.arange(count, dtype=np.float64)[:, None]
    ranks = rearranged(rank, lambda array: array[..., None, :])
    return tensors("number", tensors("equal", tensors("sub", ranks, wanted), 0.0))


def _ranks(tensors: Algebra, x: Operand, *, largest: bool) -> Operand:
    """How many elements of the last axis come before each: larger ones, and equal ones before it.

    Of each pair one comes before the other: the first if it is as large.
    """
    size = x.shape[-1]
    first, second = np.triu_indices(size, k=1)
    one = rearranged(x, lambda array: array[..., first])
    other = rearranged(x, lambda array: array[..., second])
    less = tensors("sub", one, other)
    keeps = tensors("greater_or_equal" if largest else "less_or_equal", less, 0.0)
    pairs = np.arange(len(first))
    counted = np.zeros((size, len(first)))
    counted[second, pairs], counted[first, pairs] = 1.0, -1.0
    found = tensors.along(tensors("number", keeps), -1, counted)
    return tensors("add", found, np.arange(size)[::-1].astype(np.float64))


@lifts(ArgMax)
def lift_argmax(ctx: LiftingContext, node: ArgMax) -> None:
    """A part of the aggregation maxabs, where elements are picked by it; else a number."""
    given, (name,) = node.attributes, node.output
    rank = len(ctx.operand(node, 0).shape)
    picks = given.keepdims and not given.select_last_index and not ctx.wiring.is_output(name)
    is_last = ctx.axes(node, [given.axis], rank) == (rank - 1,)
    if ctx.wiring.operators_reading(name) != {"GatherElements"} or not (picks and is_last):
        lift_index(ctx, node, largest=True)
        return
    value = last_axis(ctx, node, (given.axis,))
    ctx.bind(node, replace(value, formula=call("where_largest", value.formula)))


@lifts(ArgMin)
def lift_argmin(ctx: LiftingContext, node: ArgMin) -> None:
    """Lift ArgMin: the index as a number."""
    lift_index(ctx, node, largest=False)


@lifts(GatherElements)
def lift_gather_elements(ctx: LiftingContext, node: GatherElements) -> None:
    """Lift GatherElements: a choice of signals, a part of maxabs, or a sum of products."""
    index = ctx.operand(node, 1)
    if not isinstance(index, Value):
        gather_elements(ctx, node, node.attributes.axis)
    elif index.formula.op != "where_largest":
        gather_elements_at(ctx, node, node.attributes.axis)
    elif (picked := _part_of_aggregation(ctx, node, index)) is not None:
        ctx.bind(node, picked)
    else:
        _bind_index(ctx, node, index)
        gather_elements_at(ctx, node, node.attributes.axis)


def _part_of_aggregation(ctx: LiftingContext, node: GatherElements, index: Value) -> Value | None:
    """An element by the ArgMax of the same ones, as an aggregation that is registered has it."""
    value, (name,) = ctx.operand(node, 0), node.output
    axes = ctx.axes(node, [node.attributes.axis], len(index.shape))
    readers = ctx.wiring.operators_reading(name)
    is_reduced = readers and all(each.startswith("Reduce") for each in readers)
    if not is_reduced or ctx.wiring.is_output(name) or axes != (len(index.shape) - 1,):
        return None
    picked = apply_formula(ctx, node, "pick", [value, index]) if isinstance(value, Value) else None
    return picked if picked and is_part(picked.formula, picked, ctx.data_type) else None


def _bind_index(ctx: LiftingContext, node: GatherElements, index: Value) -> None:
    """Let neurons compute an ArgMax along the last axis that is a part of no aggregation."""
    tensors, name = Algebra(ctx, node), node.input[1]
    last = len(index.shape) - 1
    _, hits = hits_of(tensors, replace(index, formula=index.formula.args[0]), (last,))
    choice = first_hit(tensors, hits, last)
    ctx.operands[name] = index_of(tensors, choice, last, keepdims=True)
    ctx.facts[name].chosen = rearranged(choice, lambda array: array[..., None, :])
    ctx.integer.add(name)


@lifts(TopK)
def lift_topk(ctx: LiftingContext, node: TopK) -> None:
    """An index in an order, where the largest of the smallest of a row is read; else numbers."""
    given = node.attributes
    values, indices = (ctx.wiring.operators_reading(name) for name in node.output)
    rank = len(ctx.operand(node, 0).shape)
    is_last = ctx.axes(node, [given.axis], rank) == (rank - 1,)
    is_read_last = values == {"ReduceMax"} and not any(map(ctx.wiring.is_output, node.output))
    if given.largest or indices or not (is_last and is_read_last):
        lift_ordered(ctx, node, given.axis, largest=bool(given.largest))
        return
    value = last_axis(ctx, node, (given.axis,))
    count = ctx.integer_of(node, 1)
    ctx.bind(node, replace(value, formula=call("lowest", value.formula, float(count))))


def last_axis(ctx: LiftingContext, node: Node, axes: tuple[int, ...] | None) -> Value:
    """The first input, which `axes` reduce along its last axis."""
    value = ctx.value(node, 0)
    rank = len(value.shape)
    if value.reduced or axes is None or ctx.axes(node, axes, rank) != (rank - 1,):
        ctx.fail(node, f"it works along the axes {list(axes or [])} of {rank}, expected the last")
    return value
