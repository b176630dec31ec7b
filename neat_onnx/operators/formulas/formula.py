"""Formulas to nodes and back: the code that all operators which are primitives of expressions
share.

A family's file says which of its operators a primitive is, by `emits`. `emit_formula` walks an
expression and adds a node for each primitive; `apply_formula` is its mirror for lifting.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting.context import Array, LiftingContext, Operand, Value
from neat_onnx.lifting.recognition import is_part, known_activation, known_aggregation
from neat_onnx.lowering.builder import GraphBuilder
from neat_onnx.model import DataType, Node
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    call,
    constant,
    greater,
    negated,
    number,
    parts_of,
    scalar_slope,
    softplus,
)
from neat_onnx.network.formula_text import fits
from neat_onnx.network.primitives import SIGNATURES
from neat_onnx.network.runtime_formulas import writable
from neat_onnx.operators.layout.shaping import Identity

ARITHMETIC = ("add", "sub", "mul", "div")


class Emission(NamedTuple):
    """The node that computes a primitive; the first of its outputs is the result."""

    operator: type[Node]
    inputs: list[str]
    attributes: dict[str, Any]
    outputs: tuple[str, ...] = ("",)


Rule = Callable[["FormulaEmitter", Expression], Emission]
RULES: dict[str, Rule] = {}


def emits(*primitives: str) -> Callable[[Rule], Rule]:
    """Register the decorated function to turn these primitives into a node."""

    def register(rule: Rule) -> Rule:
        for primitive in primitives:
            if primitive in RULES:
                raise ModelError(f"two rules emit the primitive {primitive}")
            RULES[primitive] = rule
        return rule

    return register


Shortening = Callable[[Expression], Expression | None]
SHORTENINGS: list[tuple[int, DataType, Shortening]] = []


def shortens(since: int, data_type: DataType) -> Callable[[Shortening], Shortening]:
    """Register the decorated function to write a part of a formula as one primitive with a rule.

    Args:
        since: the opset from which the nodes are there.
        data_type: the float type that they are for.
    """

    def register(shortening: Shortening) -> Shortening:
        SHORTENINGS.append((since, data_type, shortening))
        return shortening

    return register


def _shortened(ctx: GraphBuilder, formula: Expression) -> Expression:
    """The formula with one primitive in place of each part that a node or two compute."""
    known = [
        shortening
        for since, data_type, shortening in SHORTENINGS
        if since <= ctx.opset and data_type is ctx.data_type
    ]
    done: dict[Expression, Expression] = {}
    for part in parts_of(formula):
        found = filter(None, (shortening(part) for shortening in known))
        short = next(found, part)
        done[part] = short.over([done.get(arg, arg) for arg in short.args])  # it may add constants
    return done[formula]


def emit_formula(
    ctx: GraphBuilder, formula: Expression, tensor: str, output: str, name: str
) -> str:
    """Add the nodes that apply `formula` to a tensor, an Identity for z itself.

    Args:
        tensor: stands for the variable.
        output, name: wished names of the result and of the node that produces it.

    Returns:
        The name of the result.
    """
    if formula == VARIABLE:
        return ctx.emit(Identity, [tensor], output, name)
    return FormulaEmitter(ctx, tensor, output, name).emit(formula)


class FormulaEmitter:
    """Adds the nodes of one formula to a graph; equal parts become one node.

    Args:
        ctx: the export.
        tensor: tensor for the variable.
        output: the name of the result's tensor; intermediate tensors get a number.
        name: the name of the node that produces the result.
        given: tensors of parts that are there already.
    """

    def __init__(
        self,
        ctx: GraphBuilder,
        tensor: str,
        output: str,
        name: str,
        given: Mapping[Expression, str] | None = None,
    ) -> None:
        self.ctx = ctx
        self._output, self._name = output, name
        self._done: dict[Expression, str] = {**(given or {}), VARIABLE: tensor}
        self._given = len(self._done) - 1

    def emit(self, formula: Expression) -> str:
        """The name of the tensor that holds `formula`."""
        formula = writable(formula, self.ctx.data_type.dtype, far_from_zero=self.ctx.far_from_zero)
        formula = _shortened(self.ctx, formula)
        for part in parts_of(formula):
            if part not in self._done and not part.is_constant:
                last, count = part == formula, len(self._done) - self._given
                self._done[part] = self._node(part, "" if last else f"_{count}")
        return self._done[formula]

    def wished(self, operator: type[Node], inputs: list[str], suffix: str) -> str:
        """Add a node before that of a primitive; the result and the node get this suffix."""
        return self.ctx.emit(operator, inputs, self._output + suffix, self._name + suffix)

    def operand(self, part: Expression) -> str:
        """The tensor that holds a part which a rule reads."""
        return self.ctx.scalar(part.value) if part.is_constant else self._done[part]

    def _node(self, part: Expression, suffix: str) -> str:
        operator, inputs, attributes, outputs = RULES[part.op](self, part)
        names = [self._output + suffix + each for each in outputs]
        return self.ctx.emit(operator, inputs, names, self._name + suffix, **attributes)


# --- recognition ---------------------------------------------------------------------------------


def apply_formula(
    ctx: LiftingContext, node: Node, primitive: str, operands: Sequence[Operand]
) -> Value | None:
    """`primitive` of operands as one formula, or None if neurons have to combine them.

    That is so if they are not made of one tensor, if a constant is not the same for all elements,
    and for sums and products with an activation: those are biases and weights. A
    Tanh of an Abs is a neuron that reads another: both have a name. A formula without a name grows
    until something else reads it, or to the largest formula that a network carries.
    """
    values = [operand for operand in operands if isinstance(operand, Value)]
    base = values[0]
    exact = _exactly(ctx, primitive, base)
    if exact is not None:
        return replace(base, formula=exact)
    parts = []
    for operand, kind in zip(operands, SIGNATURES[primitive], strict=True):
        if isinstance(operand, Value):
            if not _same_base(base, operand):
                return None
            parts.append(_as_kind(operand.formula, kind))
        else:
            single = None if kind == "t" else _single_number(ctx, operand, base, primitive)
            if single is None:
                return None
            parts.append(constant(single))
    formula = _without_choice(call(primitive, *parts))
    if _multiplies_by_ones(ctx, primitive, operands, base):
        return base
    if not (is_part(formula, base, ctx.data_type) or _grows(ctx, node, primitive, values, formula)):
        if primitive in ARITHMETIC or base.reduced:
            return None
        if base.formula != VARIABLE:
            again = {id(value): Value(ctx.materialize(value)) for value in values}
            if len(again) > 1:
                return None
            materialized = [again.get(id(operand), operand) for operand in operands]
            return apply_formula(ctx, node, primitive, materialized)
    return recognised(ctx, replace(base, formula=formula))


def _exactly(ctx: LiftingContext, primitive: str, base: Value) -> Expression | None:
    """The logarithm of a sigmoid as a softplus, a double negation as nothing; else None.

    Runtimes round a sigmoid to 0 long before its logarithm is large: of -20 it would be -∞.
    """
    if primitive == base.formula.op == "negated" and not base.reduced:
        return base.formula.args[0]
    if primitive != "log" or base.formula.op != "sigmoid" or base.reduced:
        return None
    formula = -softplus(-base.formula.args[0])
    registered = is_part(call(primitive, base.formula), base, ctx.data_type)
    return formula if fits(formula) and not registered else None


def _without_choice(formula: Expression) -> Expression:
    """A choice of 1 and 0 as the number that a truth value is."""
    numbers = [each.value if each.is_constant else None for each in formula.args[1:]]
    if formula.op != "where" or numbers not in ([1.0, 0.0], [0.0, 1.0]):
        return formula
    return number(formula.args[0] if numbers[0] else negated(formula.args[0]))


def _as_kind(part: Expression, kind: str) -> Expression:
    """A part as a truth value (t), else as a number: truth values are 1 and 0."""
    if kind == "t":
        return part if part.is_truth else greater(part, 0.5)
    return number(part) if part.is_truth else part


def _multiplies_by_ones(
    ctx: LiftingContext, primitive: str, operands: Sequence[Operand], base: Value
) -> bool:
    """Whether a formula without a name is multiplied by a vector of ones."""
    if primitive != "mul" or base.formula == VARIABLE or not may_grow(ctx, base.formula):
        return False
    factors = [each for each in operands if not isinstance(each, Value)]
    return len(factors) == 1 and factors[0].ndim > 0 and bool(np.all(factors[0] == 1.0))


def _single_number(
    ctx: LiftingContext, operand: Array, base: Value, primitive: str
) -> float | None:
    """The number that a constant is for every element of `base`; None if they differ.

    A factor or an addend with axes is kept apart: it is the weights or the biases of neurons.
    Zeros are added by an export for neurons that hand on others.
    """
    if operand.ndim == 0:
        return float(operand)
    if not operand.size or np.broadcast_shapes(operand.shape, base.shape) != base.shape:
        return None
    if primitive in ARITHMETIC and _has_name(ctx, base.formula):
        return None
    if primitive == "add" and not np.any(operand):
        return None
    flat = operand.ravel()
    return float(flat[0]) if np.all(flat == flat[0]) else None


def _grows(
    ctx: LiftingContext,
    node: Node,
    primitive: str,
    values: Sequence[Value],
    formula: Expression,
) -> bool:
    """Whether a formula that is a part of nothing registered is one all the same."""
    formulas = {value.formula for value in values}
    if values[0].reduced or not fits(formula):
        return False
    if formula.is_truth or any(each.is_truth for each in formulas) or len(formulas) > 1:
        return True
    if ctx.whole:
        return True
    (inner,) = formulas
    if scalar_slope(inner)[1] == VARIABLE:
        if primitive in ("sub", "div") and len(values) > 1:
            return True  # x - x and x / x, which are no constants: they are NaN at infinities
        return primitive not in ARITHMETIC or _is_shared_shift(node, values)
    return may_grow(ctx, inner)


def _is_shared_shift(node: Node, values: Sequence[Value]) -> bool:
    """Whether an Add or Sub of a number reads a value that others read, too, or that a pool made:
    it is nobody's bias.

    If something else than a formula reads the result, that makes neurons with a bias of it.
    """
    made = values[0].made
    takes_none = made is None or (made.spatial and made.aggregation != "sum")
    return node.op_type in ("Add", "Sub") and len(values) == 1 and takes_none


def may_grow(ctx: LiftingContext, formula: Expression) -> bool:
    """Whether a function of `formula` is to be one formula: it is z or c · z, or has no name."""
    return scalar_slope(formula)[1] == VARIABLE or not _has_name(ctx, formula)


def formula_of(ctx: LiftingContext, operand: Operand, formula: Expression) -> Operand:
    """A formula of each element; it grows onto the operand's own where that has no name."""
    if not isinstance(operand, Value):
        return formula.evaluate(np.asarray(operand, np.float64))
    formula = writable(formula, ctx.data_type.dtype)
    whole = formula.substitute(operand.formula)
    grows = may_grow(ctx, operand.formula) and fits(whole)
    if operand.reduced or not (grows or is_part(whole, operand, ctx.data_type)):
        return Value(ctx.materialize(operand), formula)
    return replace(operand, formula=whole)


def _has_name(ctx: LiftingContext, formula: Expression) -> bool:
    return known_activation(formula, ctx.data_type) is not None


def recognised(ctx: LiftingContext, value: Value) -> Value:
    """The neurons that a reduced value is the aggregation of, once its formula is one; else it."""
    if not value.reduced:
        return value
    inputs = value.signals.shape[-1]
    name = known_aggregation(value.formula, inputs, ctx.data_type)
    if name is None:
        return value
    count = value.signals.size // inputs
    made = ctx.add_neurons(count, aggregation=name)
    signals = ctx.materialize(Value(value.signals))
    ctx.connect(made, signals, np.repeat(np.arange(count), inputs), value.weights, value.gate)
    return Value(made.signals.reshape(value.shape), made=made)


def _same_base(one: Value, other: Value) -> bool:
    return (
        one.reduced == other.reduced
        and _equal(one.signals, other.signals)
        and _equal(one.weight, other.weight)
        and _equal(one.gate, other.gate)
    )


def _equal(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return one is other or np.array_equal(one, other)
