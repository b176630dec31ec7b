"""Formulas to nodes and back: what every operator that is a primitive of expressions shares.

A family's file says which of its operators a primitive is, by `emits`. `emit_formula` walks an
expression and adds a node for each primitive, `apply_formula` is its mirror for lifting, and
`known_activation` and `known_aggregation` find the name of a formula that was lifted.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting.context import Array, LiftingContext, Operand, Value
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.model import DataType, Node
from neat_onnx.network.activations import ACTIVATIONS, Activation
from neat_onnx.network.aggregations import AGGREGATIONS, Aggregation
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    call,
    constant,
    exp,
    greater,
    log,
    relu,
    where,
)


class Emission(NamedTuple):
    """The node that computes a primitive; the first of its outputs is the result."""

    operator: type[Node]
    inputs: list[str]
    attributes: dict[str, Any]
    outputs: tuple[str, ...] = ("",)


Rule = Callable[["FormulaEmitter", Expression], Emission]
RULES: dict[str, Rule] = {}


def emits(*primitives: str) -> Callable[[Rule], Rule]:
    """Register the decorated function as what turns these primitives into a node."""

    def register(rule: Rule) -> Rule:
        for primitive in primitives:
            if primitive in RULES:
                raise ModelError(f"two rules emit the primitive {primitive}")
            RULES[primitive] = rule
        return rule

    return register


class FormulaEmitter:
    """Adds the nodes of one formula to a graph; equal parts become one node.

    Args:
        ctx: the export.
        tensor: what stands for the variable.
        output: the name of the result's tensor; what is on the way to it gets a number.
        name: the name of the node that produces the result.
    """

    def __init__(self, ctx: LoweringContext, tensor: str, output: str, name: str) -> None:
        self.ctx = ctx
        self._output, self._name = output, name
        self._done: dict[Expression, str] = {VARIABLE: tensor}

    def emit(self, formula: Expression) -> str:
        """The name of the tensor that holds `formula`."""
        formula = writable(formula, self.ctx.data_type)
        for part in _parts(formula):
            if part not in self._done and not part.is_constant:
                last = part == formula
                self._done[part] = self._node(part, "" if last else f"_{len(self._done)}")
        return self._done[formula]

    def operand(self, part: Expression) -> str:
        """The tensor that holds a part which a rule reads."""
        return self.ctx.scalar(part.value) if part.is_constant else self._done[part]

    def _node(self, part: Expression, suffix: str) -> str:
        operator, inputs, attributes, outputs = RULES[part.op](self, part)
        names = [self._output + suffix + each for each in outputs]
        return self.ctx.emit(operator, inputs, names, self._name + suffix, **attributes)


def _parts(formula: Expression) -> list[Expression]:
    """All sub-expressions, each after its own."""
    found = [part for arg in formula.args for part in _parts(arg)]
    return [*found, formula]


# --- what has no float64 kernel ------------------------------------------------------------------


def _softplus(x: Expression) -> Expression:
    return relu(x) + log(1.0 + exp(-abs(x)))


def _elu(x: Expression, alpha: Expression) -> Expression:
    return where(greater(x, 0.0), x, alpha.value * (exp(x) - 1.0))


_ARITHMETIC = ("add", "sub", "mul", "div")
_TRUTH = ("number", "where")  # they read truth values, which no neuron has
_FLOAT64: dict[str, Callable[..., Expression]] = {
    "softplus": _softplus,
    "softsign": lambda x: x / (1.0 + abs(x)),
    "elu": _elu,
    "selu": lambda x, alpha, gamma: gamma.value * _elu(x, alpha),
    "leaky_relu": lambda x, slope: where(greater(x, 0.0), x, slope.value * x),
}


def writable(formula: Expression, data_type: DataType) -> Expression:
    """The formula in primitives that runtimes have kernels for in this type.

    In float64 an operator's attributes would be float32 still, and some have no kernel.
    """
    args = tuple(writable(arg, data_type) for arg in formula.args)
    if data_type is DataType.DOUBLE and formula.op in _FLOAT64:
        return _FLOAT64[formula.op](*args)
    return Expression(formula.op, args, formula.value)


# --- recognition ---------------------------------------------------------------------------------


def apply_formula(
    ctx: LiftingContext, node: Node, primitive: str, operands: Sequence[Operand]
) -> Value | None:
    """`primitive` of operands as one formula, or None if neurons have to combine them.

    That is so if they are not made of one tensor, if a constant is not a scalar, and for what
    nothing known has in it, as where a value multiplies itself. If there is only one value, it is
    settled then, and the formula starts anew: a Tanh of an Abs is a neuron that reads another. So
    no formula grows beyond the largest that is known.
    """
    values = [operand for operand in operands if isinstance(operand, Value)]
    base = values[0]
    parts = []
    for operand in operands:
        if isinstance(operand, Value):
            if not _same_base(base, operand):
                return None
            parts.append(operand.formula)
        elif operand.ndim == 0:
            parts.append(constant(float(operand)))
        else:
            return None
    formula = call(primitive, *parts)
    if not _is_part(formula, base, ctx.data_type):
        if primitive in _ARITHMETIC or len(values) > 1 or base.reduced:
            return None
        if base.formula != VARIABLE and primitive not in _TRUTH:
            again = [
                Value(ctx.settle(base)) if operand is base else operand for operand in operands
            ]
            return apply_formula(ctx, node, primitive, again)
    return recognised(ctx, node, replace(base, formula=formula))


def recognised(ctx: LiftingContext, node: Node, value: Value) -> Value:
    """The neurons that a reduced value is the aggregation of, once its formula is one; else it."""
    if not value.reduced:
        return value
    inputs = value.signals.shape[-1]
    name = known_aggregation(value.formula, inputs, ctx.data_type)
    if name is None:
        return value
    layer = ctx.add_neurons(node, value.signals.size // inputs, aggregation=name)
    weight = np.ones(value.signals.shape) if value.weight is None else value.weight
    signals = ctx.settle(Value(value.signals))
    ctx.connect(signals, np.repeat(layer.states, inputs), weight, value.gate)
    return Value(layer.states.reshape(value.shape))


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


def known_activation(formula: Expression, data_type: DataType) -> tuple[str, float] | None:
    """(name, c) such that `formula` of z, in a model of this type, is that activation of z / c.

    c is 1 where the formula is written as it is; with `fold` a slope has gone into the weights, and
    other tools write slopes of their own.
    """
    known = _activations(data_type, tuple(ACTIVATIONS.values()))
    formula = _rounded(formula, data_type)
    if formula in known:
        return known[formula]
    slope, core = scalar_slope(formula)
    if core not in known or not slope:
        return None
    name, steeper = known[core]
    return name, steeper / slope


@cache
def _activations(
    data_type: DataType, registered: tuple[Activation, ...]
) -> dict[Expression, tuple[str, float]]:
    whole: dict[Expression, tuple[str, float]] = {}
    folded: dict[Expression, tuple[str, float]] = {}
    for each in registered:
        slope, core = scalar_slope(each.expression)
        whole[_rounded(writable(each.expression, data_type), data_type)] = (each.name, 1.0)
        folded.setdefault(_rounded(writable(core, data_type), data_type), (each.name, slope))
    return folded | whole


def _is_part(formula: Expression, value: Value, data_type: DataType) -> bool:
    """Whether something known has `formula` of a value in it, whatever the slope."""
    formula = _rounded(formula, data_type)
    inputs = value.signals.shape[-1] if value.signals.ndim else 1
    if not value.reduced:
        parts = _all_parts(data_type, tuple(ACTIVATIONS.values()))
        if formula in parts or scalar_slope(formula)[1] in parts:
            return True
    return formula in _all_parts_over(data_type, inputs, tuple(AGGREGATIONS.values()))


@cache
def _all_parts(data_type: DataType, registered: tuple[Activation, ...]) -> frozenset[Expression]:
    known = _activations(data_type, registered)
    return frozenset(part for formula in known for part in _parts(formula))


@cache
def _all_parts_over(
    data_type: DataType, inputs: int, registered: tuple[Aggregation, ...]
) -> frozenset[Expression]:
    known = _aggregations(data_type, inputs, registered)
    return frozenset(part for formula in known for part in _parts(formula))


def known_aggregation(formula: Expression, inputs: int, data_type: DataType) -> str | None:
    """The name of the aggregation of this many inputs that is written as `formula`."""
    known = _aggregations(data_type, inputs, tuple(AGGREGATIONS.values()))
    return known.get(_rounded(formula, data_type))


@cache
def _aggregations(
    data_type: DataType, inputs: int, registered: tuple[Aggregation, ...]
) -> dict[Expression, str]:
    return {
        _rounded(writable(each.expression(inputs), data_type), data_type): each.name
        for each in registered
        if not each.linear
    }


def _rounded(formula: Expression, data_type: DataType) -> Expression:
    if data_type is DataType.DOUBLE:
        return formula
    with np.errstate(over="ignore"):
        return formula.map_constants(lambda value: float(np.float32(value)))


def scalar_slope(formula: Expression) -> tuple[float, Expression]:
    """(c, f) such that the formula is f(c·z) with the largest possible part in c; (1, formula)
    where z occurs without a factor or with several.
    """
    factors: set[float] = set()

    def strip(part: Expression) -> Expression:
        if part.op == "mul" and part.args[0].is_constant and part.args[1] == VARIABLE:
            factors.add(part.args[0].value)
            return VARIABLE
        if part == VARIABLE:
            factors.add(1.0)
        return Expression(part.op, tuple(strip(arg) for arg in part.args), part.value)

    core = strip(formula)
    return (factors.pop(), core) if len(factors) == 1 else (1.0, formula)


__all__ = [
    "Array",
    "Emission",
    "FormulaEmitter",
    "apply_formula",
    "emits",
    "known_activation",
    "known_aggregation",
    "scalar_slope",
    "writable",
]
