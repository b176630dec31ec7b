"""Max, Min, Sum and Mean of any number of tensors, and Mod."""

from functools import reduce
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.network.expression import VARIABLE, Expression, floor
from neat_onnx.operators.arithmetic import neurons_of
from neat_onnx.operators.choice import applied
from neat_onnx.operators.formula import TRUNCATED, Emission, FormulaEmitter, emits, formula_of


class _Several(Node, abstract=True):
    inputs = (1, None)
    since = 13
    unaligned = 0


class Max(_Several):
    """The largest of several inputs, element by element, with broadcasting."""


class Min(_Several):
    """The smallest of several inputs, element by element, with broadcasting."""


class Sum(_Several):
    """The sum of several inputs, element by element, with broadcasting."""


class Mean(_Several):
    """The mean of several inputs, element by element, with broadcasting."""


class ModAttributes(Attributes):
    """Attributes of Mod: fmod, which gives the result the sign of the dividend."""

    fmod: Literal[0, 1] = 0


class Mod(Node):
    """The remainder of A / B, with broadcasting."""

    inputs = (2, 2)
    since = 13
    unaligned = 0
    attributes: ModAttributes = ModAttributes.defaults()


_MOST_FOLDED = 8  # tensors that are joined one by one; more are inputs of the same neurons
_AGGREGATIONS = {"maximum": "max", "minimum": "min", "add": "sum"}
_FOLDED = {"Max": "maximum", "Min": "minimum", "Sum": "add", "Mean": "add"}


@emits("maximum", "minimum")
def emit_extreme(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit Max or Min of two operands."""
    operator = Max if part.op == "maximum" else Min
    return Emission(operator, [emitter.operand(arg) for arg in part.args], {})


@emits("mod")
def emit_mod(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit Mod with fmod=1, the only form for floats."""
    return Emission(Mod, [emitter.operand(arg) for arg in part.args], {"fmod": 1})


@lifts(Max, Min, Sum, Mean, infinite=True)
def lift_several(ctx: LiftingContext, node: _Several) -> None:
    """Lift Max, Min, Sum and Mean, folded from the left, two inputs at a time."""
    primitive = _FOLDED[node.op_type]
    operands = [ctx.operand(node, position) for position in range(len(node.input))]

    def joined(one: Operand, other: Operand) -> Operand:
        return applied(ctx, node, primitive, [one, other])

    if len(operands) > _MOST_FOLDED:
        values = [ctx.as_value(node, operand) for operand in operands]
        ones = (1.0,) * len(values)
        total: Operand = neurons_of(ctx, node, values, _AGGREGATIONS[primitive], ones)
    else:
        total = reduce(joined, operands)
    if node.op_type == "Mean":
        total = applied(ctx, node, "div", [total, np.asarray(float(len(operands)))])
    ctx.bind(node, total)


@lifts(Mod)
def lift_mod(ctx: LiftingContext, node: Mod) -> None:
    """With fmod the sign is that of the dividend, else that of the divisor."""
    one, other = ctx.operand(node, 0), ctx.operand(node, 1)
    computed = isinstance(one, Value) and isinstance(other, Value)
    if node.attributes.fmod and not (computed and ctx.has_integers(node)):
        ctx.bind(node, applied(ctx, node, "mod", [one, other]))
        return
    if isinstance(other, Value) and not ctx.has_integers(node):
        ctx.fail(node, "its divisor is computed: a quotient that is rounded may be a whole one off")
    if not isinstance(other, Value) and not np.all(np.isfinite(other) & (other != 0)):
        ctx.fail(node, "its divisor is zero or not finite")
    rounding = TRUNCATED if node.attributes.fmod else floor(VARIABLE)
    quotient = formula_of(ctx, applied(ctx, node, "div", [one, other]), rounding)
    whole = applied(ctx, node, "mul", [quotient, other])
    ctx.bind(node, applied(ctx, node, "sub", [one, whole]))
