"""Operators on tensors that are not one formula: neurons that combine them.

`applied` does elementwise arithmetic for any operator: on constants, as a formula, or by neurons.
"""

from collections.abc import Callable, Sequence

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Operand, Value
from neat_onnx.lifting.values import PRE_ACTIVATION
from neat_onnx.model import Node
from neat_onnx.network.domains import ANY, stays_finite
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    call,
    constant,
    equal,
    greater,
    negated,
    number,
)
from neat_onnx.network.formula_text import fits
from neat_onnx.network.primitives import PRIMITIVES, SIGNATURES
from neat_onnx.operators.formulas.arithmetic import RULES, multiply, neurons_of, subtract
from neat_onnx.operators.formulas.formula import apply_formula, may_grow
from neat_onnx.operators.formulas.guarded import chosen_of_both
from neat_onnx.operators.formulas.infinite import applied_to_infinite
from neat_onnx.operators.formulas.not_finite import special

_MAX_CONSTANTS = 256
_COMPARISONS = ("greater", "greater_or_equal", "less", "less_or_equal", "equal")


def applied(
    ctx: LiftingContext, node: Node, primitive: str, operands: Sequence[Operand]
) -> Operand:
    """`primitive` of operands: a constant, a formula, or neurons that combine them.

    Raises:
        ModelError: no neuron computes it.
    """
    ctx.broadcast(node, *map(np.shape, operands))
    if not any(isinstance(operand, Value) for operand in operands):
        try:
            with np.errstate(all="ignore"):
                return np.asarray(PRIMITIVES[primitive](*operands))
        except TypeError:  # numpy has no negative of truth values, nor differences
            ctx.fail(node, "it does not take constants of this type")
    if primitive != "clip" and any(special(ctx, operand) is not None for operand in operands):
        return applied_to_infinite(
            ctx, node, primitive, operands, lambda each: applied(ctx, node, primitive, each)
        )
    found = apply_formula(ctx, node, primitive, operands)
    if found is not None:
        return found
    if any(isinstance(operand, Value) and operand.reduced for operand in operands):
        materialized = [
            Value(ctx.materialize(operand)) if isinstance(operand, Value) else operand
            for operand in operands
        ]
        return applied(ctx, node, primitive, materialized)
    return _combined(ctx, node, primitive, operands)


def _combined(
    ctx: LiftingContext, node: Node, primitive: str, operands: Sequence[Operand]
) -> Operand:
    if primitive in RULES:
        one, other = operands
        return RULES[primitive](ctx, node, one, other)
    if primitive == "where":
        return _where(ctx, node, *operands)
    if primitive in _COMPARISONS:
        difference = subtract(ctx, node, *_as_numbers(operands))
        return Value(difference.signals, call(primitive, VARIABLE, 0.0))
    if set(SIGNATURES[primitive]) == {"t"}:
        return _logic(ctx, node, primitive, *operands)
    return _by_constant(ctx, node, primitive, operands)


def _as_numbers(operands: Sequence[Operand]) -> list[Operand]:
    """Operands with constants, truth values among them, as numbers."""
    return [each if isinstance(each, Value) else np.asarray(each, np.float64) for each in operands]


def _logic(ctx: LiftingContext, node: Node, primitive: str, one: Operand, other: Operand) -> Value:
    """Truth values of two tensors, which neurons carry as 1 and 0."""
    numbers = _as_numbers((one, other))
    if primitive == "both":
        product = multiply(ctx, node, *numbers)
        return Value(ctx.materialize(product), greater(VARIABLE, 0.5))
    if primitive == "either":
        either = neurons_of(
            ctx, node, [ctx.as_value(node, each) for each in numbers], "max", (1.0, 1.0)
        )
        return Value(either.signals, greater(VARIABLE, 0.5))
    difference = subtract(ctx, node, *numbers)
    return Value(ctx.materialize(difference), negated(equal(VARIABLE, 0.0)))


def _where(
    ctx: LiftingContext, node: Node, truth: Operand, one: Operand, other: Operand
) -> Operand:
    """A choice by constants moves elements; one that is computed gates both."""
    if not isinstance(truth, Value):
        return _picked(ctx, node, np.asarray(truth, np.bool_), one, other)
    for each in (one, other):
        if not (ctx.guarded and isinstance(each, Value)):
            _refuse_infinite(ctx, node, each)
    chosen = Value(ctx.materialize(truth))
    if not isinstance(one, Value) and not isinstance(other, Value):
        gap = _exact_gap(one, other)
        if gap is not None:
            return applied(ctx, node, "add", [multiply(ctx, node, chosen, gap), _numbers(other)])
    rest = _rest(ctx, node, truth, chosen)

    def choose(operands: Sequence[Operand]) -> Operand:
        both = [_as_weights(each, chosen) for each in operands]
        sides = [(by, each) for by, each in zip((chosen, rest), both, strict=True)]
        terms = [multiply(ctx, node, by, each) for by, each in sides if not _is_zero(each)]
        return terms[0] if len(terms) == 1 else neurons_of(ctx, node, terms, "sum", (1.0, 1.0))

    return chosen_of_both(ctx, node, (one, other), chosen.signals, rest.signals, choose)


def _is_zero(operand: Operand) -> bool:
    """Whether an operand is the number 0, without axes of its own."""
    return not isinstance(operand, Value) and np.size(operand) == 1 and not np.any(operand)


def _as_weights(operand: Operand, chosen: Value) -> Operand:
    """A constant number as the weights of a choice, which needs no neuron of its own then."""
    if isinstance(operand, Value) or np.ndim(operand) or not chosen.shape:
        return operand
    return np.reshape(operand, 1)


def _exact_gap(one: Array, other: Array) -> Array | None:
    """The difference of two constants, None unless adding it is exact, in float32 as well.

    A choice of such constants is one connection and a bias, with no neuron for the rest.
    """
    one, other = _numbers(one), _numbers(other)
    with np.errstate(over="ignore"):  # what float32 does not hold is not equal either
        gap = one - other
        small, added = gap.astype(np.float32), other.astype(np.float32)
        is_exact = np.all(small == gap) and np.all(added == other) and np.all(small + added == one)
    return gap if is_exact else None


def _numbers(constants: Array) -> Array:
    return np.asarray(constants, np.float64)


def _rest(ctx: LiftingContext, node: Node, truth: Value, chosen: Value) -> Value:
    """1 where the truth value is 0: another function of the same activation, or 1 - chosen where
    the truth value is a function of a sum, which then needs no neurons of its own. A function
    without a name would grow by that.
    """
    named = not may_grow(ctx, number(truth.formula) if truth.formula.is_truth else truth.formula)
    if named and np.any(ctx.kind[truth.signals] == PRE_ACTIVATION):
        return Value(ctx.materialize(subtract(ctx, node, np.ones(()), chosen)))
    return Value(ctx.materialize(ctx.as_value(node, applied(ctx, node, "negated", [truth]))))


def _picked(ctx: LiftingContext, node: Node, truth: Array, one: Operand, other: Operand) -> Operand:
    values = [ctx.as_value(node, each) for each in (one, other)]
    signals = [ctx.materialize(value) for value in values]
    ctx.check_size(
        node, int(np.prod(np.broadcast_shapes(truth.shape, *(s.shape for s in signals))))
    )
    return Value(np.where(truth, *signals))


def _refuse_infinite(ctx: LiftingContext, node: Node, operand: Operand) -> None:
    """A gate of 0 does not hide a value that is not finite: 0 · ∞ is NaN."""
    if isinstance(operand, Value):
        finite = stays_finite(operand.formula, ANY)
    else:
        finite = bool(np.all(np.isfinite(operand)))
    if not finite:
        ctx.undecided = True
        ctx.fail(node, "a value that it may leave out is not finite everywhere")


def _by_constant(
    ctx: LiftingContext, node: Node, primitive: str, operands: Sequence[Operand]
) -> Value:
    """A function with another constant for each element."""
    constants = [operand for operand in operands if not isinstance(operand, Value)]
    values = [operand for operand in operands if isinstance(operand, Value)]
    if len(constants) != 1 or len(values) != 1:
        ctx.undecided = True  # in whole formulas, all of them may be functions of one number
        ctx.fail(node, "it combines computed tensors in a way that no neuron computes")

    def formula(inner: Expression, number: float) -> Expression:
        return call(
            primitive,
            *(inner if isinstance(each, Value) else constant(number) for each in operands),
        )

    return formula_of_each(ctx, node, values[0], constants[0], formula)


def formula_of_each(
    ctx: LiftingContext,
    node: Node,
    value: Value,
    constants: Array,
    formula: Callable[[Expression, float], Expression],
) -> Value:
    """A formula for each of the constants that elements of a value are paired with.

    Raises:
        ModelError: there are too many constants.
    """
    shape = ctx.broadcast(node, constants.shape, value.shape)
    ctx.check_size(node, int(np.prod(shape, dtype=object)))
    different, which = np.unique(np.broadcast_to(constants, shape), return_inverse=True)
    if len(different) > _MAX_CONSTANTS:
        ctx.fail(node, f"it has {len(different)} different constants, at most {_MAX_CONSTANTS}")

    def formulas_of(inner: Expression) -> list[Expression]:
        return [formula(inner, number) for number in different.tolist()]

    origin, formulas = value.signals, formulas_of(value.formula)
    if not (value.elementwise and may_grow(ctx, value.formula) and all(map(fits, formulas))):
        origin, formulas = ctx.materialize(value), formulas_of(VARIABLE)
    origin = np.broadcast_to(origin, shape)
    return Value(ctx.materialized_each(origin.ravel(), formulas, which.ravel()).reshape(shape))
