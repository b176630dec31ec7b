"""Max, Min, Sum and Mean of any number of tensors, Clip, and Mod."""

from functools import reduce
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.lifting.followed_axes import FEATURE
from neat_onnx.model import Attributes, Node
from neat_onnx.network.expression import VARIABLE, Expression, floor
from neat_onnx.operators.formulas.arithmetic import neurons_of
from neat_onnx.operators.formulas.choice import applied
from neat_onnx.operators.formulas.formula import (
    Emission,
    FormulaEmitter,
    apply_formula,
    emits,
    formula_of,
)
from neat_onnx.operators.formulas.integers import floored_quotient, truncated_quotient


class _Several(Node, abstract=True):
    inputs = (1, None)
    since = 13
    unaligned = 0
    elementwise = True


class Max(_Several):
    """The largest of several inputs, element by element, with broadcasting."""

    picks = True


class Min(_Several):
    """The smallest of several inputs, element by element, with broadcasting."""

    picks = True


class Sum(_Several):
    """The sum of several inputs, element by element, with broadcasting."""


class Mean(_Several):
    """The mean of several inputs, element by element, with broadcasting."""


class Clip(Node):
    """min(max(x, low), high), element by element; bounds may be left out."""

    inputs = (1, 3)
    since = 13
    elementwise = True
    picks = True


class ModAttributes(Attributes):
    """Attributes of Mod: fmod, which gives the result the sign of the dividend."""

    fmod: Literal[0, 1] = 0


class Mod(Node):
    """The remainder of A / B, with broadcasting."""

    inputs = (2, 2)
    since = 13
    unaligned = 0
    elementwise = True
    attributes: ModAttributes = ModAttributes.defaults()


_BOUNDS = "its bounds have to be single numbers"
_MAX_FOLDED = 8  # tensors that are joined one by one; more are inputs of the same neurons
_AGGREGATIONS = {"maximum": "max", "minimum": "min", "add": "sum"}
_FOLDED = {"Max": "maximum", "Min": "minimum", "Sum": "add", "Mean": "add"}


@emits("clip")
def emit_clip(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit Clip; a bound that bounds nothing is left out."""
    bounds = [
        "" if arg.value == infinite else emitter.operand(arg)
        for arg, infinite in zip(part.args[1:], (-np.inf, np.inf), strict=True)
    ]
    while bounds and not bounds[-1]:
        bounds.pop()
    return Emission(Clip, [emitter.operand(part.args[0]), *bounds], {})


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
    """Lift Max, Min, Sum and Mean, folded from the left, two inputs at a time.

    A Sum of one tensor is neurons, as if 0 were added.
    """
    primitive = _FOLDED[node.op_type]
    operands = [ctx.operand(node, position) for position in range(len(node.input))]
    if node.op_type == "Sum" and len(operands) == 1:
        operands.append(np.zeros(1))

    def joined(one: Operand, other: Operand) -> Operand:
        return applied(ctx, node, primitive, [one, other])

    if len(operands) > _MAX_FOLDED:
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
    whole = ctx.has_integers(node)
    if node.attributes.fmod and not computed:
        ctx.bind(node, applied(ctx, node, "mod", [one, other]))
        return
    if isinstance(other, Value) and not whole:
        if not node.attributes.fmod:
            ctx.fail(node, "its numbers are real, and fmod is 0: ONNX has that of integers alone")
        ctx.bind(node, _of_real_numbers(ctx, node, one, other))
        return
    if not isinstance(other, Value) and not np.all(np.isfinite(other) & (other != 0)):
        ctx.fail(node, "its divisor is zero or not finite")
    one, other = (each.shared if isinstance(each, Value) else each for each in (one, other))
    if whole:
        rounded = truncated_quotient if node.attributes.fmod else floored_quotient
        quotient = rounded(ctx, node, one, other)
    else:
        quotient = formula_of(ctx, applied(ctx, node, "div", [one, other]), floor(VARIABLE))
    times = applied(ctx, node, "mul", [quotient, other])
    ctx.bind(node, applied(ctx, node, "sub", [one, times]))


def _of_real_numbers(ctx: LiftingContext, node: Mod, one: Operand, other: Operand) -> Operand:
    """The remainder of two computed tensors, by neurons where it is no function of one number."""
    if not ctx.guarded:
        return applied(ctx, node, "mod", [one, other])
    from neat_onnx.operators.formulas.remainders import remainder  # noqa: PLC0415 - of few models

    of_one = apply_formula(ctx, node, "mod", [one, other])
    return remainder(ctx, node, one, other) if of_one is None else of_one


@lifts(Clip, infinite=True)
def lift_clip(ctx: LiftingContext, node: Clip) -> None:
    """Lift Clip, with bounds that may be left out; computed ones are read as by Max and Min."""
    given = [ctx.optional(node, position) for position in (1, 2)]
    if any(isinstance(bound, Value) for bound in given):
        _bind_between(ctx, node)
        return
    value = ctx.value(node, 0)
    bounds = [
        np.asarray(infinite if bound is None else bound)
        for bound, infinite in zip(given, (-np.inf, np.inf), strict=True)
    ]
    if any(bound.size != 1 or np.isnan(bound).any() for bound in bounds):
        ctx.fail(node, _BOUNDS)
    bounds = [bound.reshape(()) for bound in bounds]
    ctx.bind(node, applied(ctx, node, "clip", [value, *bounds]))


def _bind_between(ctx: LiftingContext, node: Clip) -> None:
    """Bind min(max(x, low), high), of bounds that are computed."""
    found = ctx.operand(node, 0)
    for position, primitive in ((1, "maximum"), (2, "minimum")):
        bound = ctx.optional(node, position)
        if bound is None:
            continue
        followed = () if ctx.features_only else ctx.followed.of(node.input[position])
        if bound.shape not in ((), (1,)) or any(axis != FEATURE for axis in followed):
            ctx.fail(node, _BOUNDS)
        if isinstance(found, Value):
            found = found.shared
        found = applied(ctx, node, primitive, [found, bound])
    ctx.bind(node, found)
