"""Formulas to nodes and back: what every operator that is a primitive of expressions shares.

A family's file says which of its operators a primitive is, by `emits`. `FormulaEmitter` walks an
expression and adds a node for each primitive; `apply_formula` is its mirror for lifting.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting.context import Array, LiftingContext, Operand, Value
from neat_onnx.lifting.recognition import is_part, known_aggregation
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.kernels import writable
from neat_onnx.model import Node
from neat_onnx.network.expression import VARIABLE, Expression, call, constant, parts_of

_ARITHMETIC = ("add", "sub", "mul", "div")
_TRUTH = ("number", "where")  # they read truth values, which no neuron has


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
        for part in parts_of(formula):
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
    if not is_part(formula, base, ctx.data_type):
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
