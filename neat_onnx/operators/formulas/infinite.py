"""Arithmetic with infinities: the −∞ of a mask, which takes an element out of a softmax.

An element that is constant and not finite is a signal of its own kind, which no neuron gives. Sums,
choices and the like hand it on; where a neuron would have to read it the import is refused.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Operand, Value
from neat_onnx.model import Node
from neat_onnx.network.expression import VARIABLE, call, greater, is_infinite, less
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.operators.formulas.formula import formula_of
from neat_onnx.operators.formulas.masked_choice import Applied, chosen_of
from neat_onnx.operators.formulas.not_finite import replaced, special, with_special


def applied_to_infinite(
    ctx: LiftingContext, node: Node, primitive: str, operands: Sequence[Operand], applied: Applied
) -> Operand:
    """`primitive` of operands with elements that are not finite.

    Args:
        ctx: the import.
        node: the node that asks.
        primitive: its name.
        operands: at least one has such elements, at least one is computed.
        applied: the primitive of finite operands.

    Raises:
        ModelError: it cannot be known without knowing the other operand.
    """
    found = [special(ctx, operand) for operand in operands]
    elements = [np.zeros(operand.shape) if each is None else each
                for operand, each in zip(operands, found, strict=True)]  # fmt: skip
    finite = [replaced(ctx, operand, each)
              for operand, each in zip(operands, found, strict=True)]  # fmt: skip
    if primitive == "where":
        return chosen_of(ctx, node, operands[0], finite[1:], elements[1:], applied)
    if primitive in ("maximum", "minimum"):
        return _extreme(ctx, node, primitive, finite, elements, applied)
    if primitive in ("add", "sub"):
        one, other = np.broadcast_arrays(*elements)
        with np.errstate(invalid="ignore"):
            result = one + other if primitive == "add" else one - other
        if not isinstance(finite[1], Value) and not np.any(finite[1]):  # a mask adds nothing
            return with_special(ctx, node, finite[0], result)
        return with_special(ctx, node, applied(finite), result)
    if primitive == "equal":
        compared = _is_infinity(ctx, node, operands)
        return compared if compared is not None else _equal(ctx, node, finite, elements, applied)
    return ctx.fail(node, "it reads values that are constant, and not finite")


def _extreme(
    ctx: LiftingContext,
    node: Node,
    primitive: str,
    finite: Sequence[Operand],
    elements: Sequence[Floats],
    applied: Applied,
) -> Operand:
    """The largest or the smallest: the infinity that never wins gives way to the other operand."""
    loses = -np.inf if primitive == "maximum" else np.inf
    values = [ctx.as_value(node, each) for each in finite]
    both = ctx.materialize(ctx.as_value(node, applied(values)))
    one, other = (np.broadcast_to(ctx.materialize(value), both.shape) for value in values)
    first, second = (np.broadcast_to(each, both.shape) for each in elements)
    signals: Array = np.where(first == loses, other, np.where(second == loses, one, both))
    function = np.maximum if primitive == "maximum" else np.minimum
    return with_special(ctx, node, Value(signals), function(first, second))


def _is_infinity(ctx: LiftingContext, node: Node, operands: Sequence[Operand]) -> Operand | None:
    """Whether a tensor is ∞, or -∞, as a formula of it; None where they are compared otherwise."""
    values = [each for each in operands if isinstance(each, Value) and special(ctx, each) is None]
    constants = [each for each in operands if not isinstance(each, Value)]
    if len(values) != 1 or len(constants) != 1:
        return None
    (value,), (constant,) = values, constants
    numbers = np.unique(constant)
    fits = np.broadcast_shapes(value.shape, constant.shape) == value.shape
    if not fits or len(numbers) != 1 or not np.isinf(numbers[0]):
        return None
    known = (ctx.facts[name].above_masked for name in node.input)
    lows = [low for low in known if low is not None]
    if lows and numbers[0] < 0:
        return formula_of(ctx, value, less(VARIABLE, max(lows)))
    side = greater if numbers[0] > 0 else less
    return formula_of(ctx, value, call("both", is_infinite(VARIABLE), side(VARIABLE, 0.0)))


def _equal(
    ctx: LiftingContext,
    node: Node,
    finite: Sequence[Operand],
    elements: Sequence[Floats],
    applied: Applied,
) -> Operand:
    """Whether elements are equal; a computed one may be infinite while the network runs."""
    values = [Value(ctx.materialize(ctx.as_value(node, each))) for each in finite]
    truth = ctx.materialize(ctx.as_value(node, applied(values)))
    one, other = (np.broadcast_to(each, truth.shape) for each in elements)
    with np.errstate(invalid="ignore"):
        constant = ctx.add_neurons(2, bias=[0.0, 1.0]).signals[(one == other).astype(np.int64)]
    never = np.isnan(one) | np.isnan(other)
    truth = np.where((one != 0) & (other != 0) | never, constant, truth)
    for value, number, rest in ((values[0], other, one), (values[1], one, other)):
        signals = np.broadcast_to(value.signals, truth.shape)
        for infinity in (np.inf, -np.inf):
            side = greater(VARIABLE, 0.0) if infinity > 0 else less(VARIABLE, 0.0)
            at = (number == infinity) & (rest == 0)
            is_it = call("both", is_infinite(VARIABLE), side)
            truth[at] = ctx.materialize(Value(signals[at], is_it))
    return Value(truth, greater(VARIABLE, 0.5))


class MaskedRows:
    """The vectors of a tensor along some axes, without the elements that are −∞.

    Attributes:
        present: the elements that take part, (n,).
    """

    def __init__(
        self,
        ctx: LiftingContext,
        node: Node,
        x: Value,
        elements: Floats,
        axes: tuple[int, ...],
    ) -> None:
        if np.any(np.isnan(elements) | (elements > 0)):
            ctx.fail(node, "a value that it reads is constant, and infinite or NaN")
        self._ctx, self._node, self._shape = ctx, node, x.shape
        count = int(np.prod([x.shape[axis] for axis in axes]))
        last = tuple(range(-len(axes), 0))
        order = np.moveaxis(np.arange(elements.size).reshape(x.shape), axes, last)
        self._places = order.reshape(-1, count)
        self._is_present = elements.ravel()[self._places] == 0
        self._some = self._is_present.any(axis=1)
        row, column = np.nonzero(self._is_present)
        self._at = self._places[row, column]
        self._group = np.unique(row, return_inverse=True)[1]
        self.present = Value(ctx.materialize(Value(x.signals.ravel()[self._at], x.formula)))

    def _neurons(self, aggregation: str, operand: Operand) -> Ints:
        """A neuron for each vector that has an element present."""
        assert isinstance(operand, Value)
        made = self._ctx.add_neurons(int(self._some.sum()), aggregation=aggregation)
        sources = self._ctx.materialize(operand)
        self._ctx.connect(made, sources, self._group, np.ones(sources.size))
        return made.signals

    def reduced(self, aggregation: str, operand: Operand) -> Operand:
        """The largest or the sum of each vector that has an element present, (vectors,)."""
        return Value(self._neurons(aggregation, operand))

    def repeated(self, operand: Operand) -> Value:
        """For each element that is present, the value of its vector, (n,)."""
        value = self._ctx.as_value(self._node, operand)
        return Value(self._ctx.materialize(value)[self._group])

    def largest(self) -> Operand:
        """The largest of each vector, (vectors,), −∞ where nothing is present."""
        signals = np.full(self._some.shape, self._ctx.add_neurons(1).signals[0])
        signals[self._some] = self._neurons("max", self.present)
        elements = np.where(self._some, 0.0, -np.inf)
        return with_special(self._ctx, self._node, Value(signals), elements)

    def filled(self, operand: Operand, absent: float, alone: float) -> Operand:
        """The tensor of elements that are present, the others being constant.

        Args:
            operand: the elements that are present, (n,).
            absent: the value of the others.
            alone: their value where nothing is present in the whole vector.
        """
        ctx, size = self._ctx, self._places.size
        signals = np.full(size, ctx.add_neurons(1).signals[0])
        signals[self._at] = ctx.materialize(ctx.as_value(self._node, operand))
        rest = np.where(self._some[:, None], absent, alone)
        elements = np.zeros(size)
        elements[self._places] = np.where(self._is_present, 0.0, rest)
        whole = Value(signals.reshape(self._shape))
        return with_special(ctx, self._node, whole, elements.reshape(self._shape))


def masked_largest(
    ctx: LiftingContext, node: Any, operand: Operand, axes: tuple[int, ...]
) -> Value | None:
    """The largest along axes, without elements that are −∞; None if there are none of these."""
    absent = special(ctx, operand)
    if absent is None or not isinstance(operand, Value):
        return None
    keep = node.attributes.keepdims
    sizes = [(1 if axis in axes else size, axis) for axis, size in enumerate(operand.shape)]
    shape = tuple(size for size, axis in sizes if keep or axis not in axes)
    largest = MaskedRows(ctx, node, operand, absent, axes).largest()
    assert isinstance(largest, Value)
    return largest.rearranged(lambda array: array.reshape(shape))
