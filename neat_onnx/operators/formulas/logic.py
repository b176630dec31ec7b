"""Comparisons, logic and choices: truth values, which no neuron has.

Within a formula they are truth values. Where neurons have to carry them they are 1 and 0.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from neat_onnx.errors import Hint, ImportAdvice
from neat_onnx.lifting.context import INPUT, LiftingContext, Operand, Value, lifts
from neat_onnx.model import Attributes, DataType, Node
from neat_onnx.network.expression import VARIABLE, Expression, equal, greater, negated, parts_of
from neat_onnx.network.genes import Ints
from neat_onnx.operators.formulas.choice import applied
from neat_onnx.operators.formulas.formula import (
    Emission,
    FormulaEmitter,
    apply_formula,
    emits,
    formula_of,
)
from neat_onnx.operators.formulas.integers import (
    is_whole,
    range_of,
    towards_zero,
    warn_of_no_number,
)
from neat_onnx.operators.formulas.nodes import Binary, Unary
from neat_onnx.passes.value_range import value_range


class _Truth(Binary, abstract=True):
    exact = True


class Greater(_Truth):
    """A > B, with broadcasting."""


class GreaterOrEqual(_Truth):
    """A ≥ B, with broadcasting."""

    since = 12


class Less(_Truth):
    """A < B, with broadcasting."""


class LessOrEqual(_Truth):
    """A ≤ B, with broadcasting."""

    since = 12


class Equal(_Truth):
    """A = B, with broadcasting."""


class And(_Truth):
    """Whether both truth values hold, with broadcasting."""

    since = 7


class Or(_Truth):
    """Whether one of two truth values holds, or both, with broadcasting."""

    since = 7


class Xor(_Truth):
    """Whether exactly one of two truth values holds, with broadcasting."""

    since = 7


class Not(Unary):
    """The other truth value, element by element."""

    since = 1
    exact = True


class IsNaN(Unary):
    """Whether each element is NaN."""

    exact = True


class IsInfAttributes(Attributes):
    """Attributes of IsInf: which signs count."""

    detect_negative: Literal[0, 1] = 1
    detect_positive: Literal[0, 1] = 1


class IsInf(Unary):
    """Whether each element is infinite."""

    since = 10
    exact = True
    attributes: IsInfAttributes = IsInfAttributes.defaults()


class Where(Node):
    """X where the condition holds, else Y, with broadcasting."""

    inputs = (3, 3)
    since = 9
    unaligned = 0
    elementwise = True
    picks = True


class CastAttributes(Attributes):
    """Attributes of Cast: the type of the result."""

    to: Literal[1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16]
    saturate: Literal[0, 1] = 1
    round_mode: Literal["up", "down", "nearest"] = "up"  # of a float8 that is not among the types


class Cast(Unary):
    """The elements in another type of numbers, or as truth values."""

    attributes: CastAttributes


class CastLikeAttributes(Attributes):
    """Attributes of CastLike: whether float8 saturates, which has no meaning here."""

    saturate: Literal[0, 1] = 1


class CastLike(Node):
    """The first input with the element type of the second."""

    inputs = (2, 2)
    since = 15
    attributes: CastLikeAttributes = CastLikeAttributes.defaults()


_BOOL = DataType.BOOL
_HOLDS = greater(VARIABLE, 0.5)
_NARROW = {kind for kind in DataType if kind.is_integer} - {DataType.INT32, DataType.INT64}
_COMPARISONS: dict[str, type[Node]] = {
    "greater": Greater,
    "greater_or_equal": GreaterOrEqual,
    "less": Less,
    "less_or_equal": LessOrEqual,
    "equal": Equal,
}
_LOGIC: dict[str, type[Node]] = {"both": And, "either": Or, "one_of": Xor, "negated": Not}
_OPERATORS = _COMPARISONS | _LOGIC | {"is_nan": IsNaN, "is_infinite": IsInf, "where": Where}
_PRIMITIVE = {operator.__name__: primitive for primitive, operator in _OPERATORS.items()}


# --- to nodes ------------------------------------------------------------------------------------


@emits(*_OPERATORS)
def emit_logic(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit the operator of a comparison or of logic."""
    return Emission(_OPERATORS[part.op], [emitter.operand(arg) for arg in part.args], {})


@emits("number")
def emit_number(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit the Cast of truth values to numbers."""
    return Emission(Cast, [emitter.operand(part.args[0])], {"to": int(emitter.ctx.data_type)})


# --- to formulas ---------------------------------------------------------------------------------


@lifts(*_COMPARISONS.values(), *_LOGIC.values(), IsNaN, Where, infinite=True)
def lift_logic(ctx: LiftingContext, node: Node) -> None:
    """Lift comparisons, logic and Where: formulas of truth values."""
    operands = [ctx.operand(node, position) for position in range(len(node.input))]
    if isinstance(node, Equal) and (hits := _hits_of_places(ctx, node, operands)) is not None:
        ctx.bind(node, applied(ctx, node, "greater", [hits, np.asarray(0.5)]))
        return
    if isinstance(node, Where):
        operands = _by_the_condition(ctx, *operands)
    ctx.bind(node, applied(ctx, node, _PRIMITIVE[node.op_type], operands))


def _by_the_condition(
    ctx: LiftingContext, truth: Operand, one: Operand, other: Operand
) -> list[Operand]:
    """The operands of a choice; one by the opposite of a condition has its branches exchanged.

    Optimizers write either for the other.
    """
    while isinstance(truth, Value) and truth.formula.op == "negated":
        truth = replace(truth, formula=truth.formula.args[0])
        one, other = other, one
    if isinstance(truth, Value) and truth.formula == _HOLDS and _is_of_truths(ctx, truth.signals):
        truth = replace(truth, formula=VARIABLE)
    return [truth, one, other]


def _is_of_truths(ctx: LiftingContext, signals: Ints) -> bool:
    """Whether signals are inputs of truth values, which are 1 or 0 themselves."""
    entries = (each for each in ctx.model.graph.inputs if each.elem_type is _BOOL)
    operands = (ctx.operands.get(each.name) for each in entries)
    truths = [each.signals.ravel() for each in operands if isinstance(each, Value)]
    return bool(truths) and bool(np.isin(signals, np.concatenate(truths)).all())


def _hits_of_places(ctx: LiftingContext, node: Equal, operands: Sequence[Operand]) -> Value | None:
    """1 where a place is a constant one, where places were made of a choice that says so."""
    for name, place, constant in zip(node.input, operands, reversed(operands), strict=True):
        choice = ctx.facts[name].chosen
        if not isinstance(choice, Value) or isinstance(constant, Value):
            continue
        size = choice.shape[-1]
        inside = constant.dtype.kind == "i" and np.all((constant >= 0) & (constant < size))
        if inside and choice.shape[:-1] == place.shape:
            places = np.arange(math.prod(place.shape)).reshape(place.shape)
            return choice.taken(places * size + constant)
    return None


@lifts(Cast, infinite=True)
def lift_cast(ctx: LiftingContext, node: Cast) -> None:
    """Numbers stay the same, as far as both types hold them; integers drop their fraction."""
    operand, to = ctx.operand(node, 0), DataType(node.attributes.to)
    ctx.integer.discard(node.output[0])
    whole = to.is_integer
    cut = isinstance(operand, Value) and not operand.formula.is_truth
    if cut and to in _NARROW:
        _require_held(ctx, node, to)
    if not isinstance(operand, Value):
        with np.errstate(all="ignore"):
            numbers = operand.astype(to.dtype)
        held = {"f": np.float64, "i": np.int64}.get(numbers.dtype.kind, numbers.dtype.type)
        ctx.bind(node, numbers.astype(held))
        return
    if whole:
        ctx.integer.add(node.output[0])
    if to is _BOOL:
        truth = negated(equal(VARIABLE, 0.0))
        ctx.bind(node, operand if operand.formula.is_truth else formula_of(ctx, operand, truth))
        return
    if operand.formula.is_truth:
        operand = apply_formula(ctx, node, "number", [operand]) or operand
        ctx.facts[node.output[0]].is_whole = True
    elif ctx.has_integers(node) or ctx.facts[node.input[0]].is_whole:
        ctx.facts[node.output[0]].is_whole = True
    elif whole:
        warn_of_no_number(ctx, node, operand)
        if operand.reduced or not is_whole(operand.formula):
            operand = formula_of(ctx, operand, towards_zero())
    ctx.bind(node, operand)


def _require_held(ctx: LiftingContext, node: Cast, to: DataType) -> None:
    """Refuse numbers that a narrow type may not hold, but for a fraction that it drops.

    Labels and places on an axis have known bounds, functions such as Clip and Sigmoid do, and so do
    the largest and the least of several narrow integers.
    Float32 takes another step of a computed size where a number is half-way between two, which a
    Clip behind it keeps within the bounds.
    """
    name, limits, value = node.input[0], np.iinfo(to.dtype), ctx.value(node, 0)
    low, high = ctx.facts[name].bounds or range_of(ctx, value)
    rounds = value.formula.op != "clip" and any(
        part.op == "round" for part in parts_of(value.formula)
    )
    exact = ctx.facts[name].bounds or not rounds or np.all(ctx.kind[value.signals] == INPUT)
    if exact and limits.min - 1 < low <= high < limits.max + 1:
        return
    low, high = value_range(ctx.draft, name)  # as the largest of several has
    if exact and limits.min <= low <= high <= limits.max:
        return
    hints: list[Hint] = [f"Put a Clip to {limits.min} to {limits.max} before it, or cast to INT64"]
    if ctx.wiring.is_output(node.output[0]):
        hints.append(ImportAdvice("What it reads can be imported: {}", {"outputs": [name]}))
    ctx.fail(node, f"numbers would be cut off to the bits of {to.name}", hints)


@lifts(CastLike, infinite=True)
def lift_cast_like(ctx: LiftingContext, node: CastLike) -> None:
    """Numbers stay as they are, also where the type has fewer digits, as in a Cast."""
    operand, _ = ctx.operand(node, 0), ctx.operand(node, 1)
    if ctx.is_of_numbers(node.input[1]):
        if isinstance(operand, Value) and operand.formula.is_truth:
            operand = apply_formula(ctx, node, "number", [operand]) or operand
        elif not isinstance(operand, Value):
            operand = operand.astype(np.float64)
        ctx.integer.discard(node.output[0])
        ctx.bind(node, operand)
        return
    ctx.fail(node, f"'{node.input[1]}' is of integers or truth values")


@lifts(IsInf)
def lift_is_inf(ctx: LiftingContext, node: IsInf) -> None:
    """Infinite in the directions that are asked for."""
    operands: list[Operand] = [ctx.operand(node, 0)]
    given = node.attributes
    infinite = applied(ctx, node, "is_infinite", operands)
    if given.detect_negative and given.detect_positive:
        ctx.bind(node, infinite)
        return
    if not (given.detect_negative or given.detect_positive):
        ctx.fail(node, "detect_negative and detect_positive are both 0: it finds nothing")
    side = "greater" if given.detect_positive else "less"
    signed = applied(ctx, node, side, [*operands, np.asarray(0.0)])
    ctx.bind(node, applied(ctx, node, "both", [infinite, signed]))
