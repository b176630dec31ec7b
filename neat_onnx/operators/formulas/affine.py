"""factors · value + shifts, as a normalization by constant statistics is: one neuron an element.

An element that is scaled and shifted in the same way once more is the same neuron. So it is where
each layer of a dense block normalizes all that came before, until training makes them differ.
"""

import numpy as np

from neat_onnx.lifting.context import MATERIALIZED, Array, LiftingContext, Operand, Value
from neat_onnx.lifting.values import AffineElements, each_once
from neat_onnx.model import Node
from neat_onnx.network.expression import VARIABLE, scalar_slope
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.operators.formulas.arithmetic import value_of
from neat_onnx.operators.formulas.choice import applied
from neat_onnx.operators.formulas.formula import may_grow


def affine(ctx: LiftingContext, node: Node, value: Value, factors: Array, shifts: Array) -> Operand:
    """factors · value + shifts, element by element: folded into the neurons that it follows.

    One factor and one shift of all elements are a part of a formula that has no name, as Mul and
    Add are, which an export writes for them.
    """
    if _is_unnamed(ctx, value) and _is_one(factors) and _is_one(shifts):
        scaled = applied(ctx, node, "mul", [value, factors])
        return applied(ctx, node, "add", [scaled, shifts]) if np.any(shifts) else scaled
    made = value.made if value.plain else None
    alike = made is not None and made.takes(factors.ravel()) and made.takes(shifts.ravel())
    if made is not None and made.is_plain_sum and alike:
        made.scale(factors.ravel())
        made.bias = made.bias + shifts.ravel()
        return value
    wanted = AffineElements(ctx.materialize(value).ravel(), factors.ravel(), shifts.ravel())
    neurons = _known(ctx, wanted)
    new = np.flatnonzero(neurons == NONE)
    fresh = ctx.add_neurons(new.size, bias=wanted.shifts[new])
    ctx.connect(fresh, wanted.signals[new], np.arange(new.size), wanted.factors[new])
    neurons[new] = fresh.signals
    ctx.affine.append(wanted._replace(neurons=neurons))
    shape = value.shape
    return value_of(fresh, shape) if new.size == neurons.size else Value(neurons.reshape(shape))


def _is_unnamed(ctx: LiftingContext, value: Value) -> bool:
    """Whether the value is a formula that has no name."""
    return scalar_slope(value.formula)[1] != VARIABLE and may_grow(ctx, value.formula)


def _is_one(numbers: Array) -> bool:
    return bool(np.all(numbers == numbers.flat[:1]))


def _known(ctx: LiftingContext, wanted: AffineElements) -> Ints:
    """For each element the neuron that computes it for other readers already, or NONE."""
    neurons = np.full(wanted.signals.size, NONE, np.int64)
    for earlier in ctx.affine:
        if not np.any(np.isin(earlier.signals, wanted.signals)):
            continue
        both = zip(earlier[:3], wanted[:3], strict=True)
        _, which = each_once(*(np.concatenate(pair) for pair in both))
        mine, theirs = which[earlier.signals.size :], which[: earlier.signals.size]
        known = np.full(which.max() + 1, NONE, np.int64)
        known[theirs] = earlier.neurons
        neurons = np.where(neurons == NONE, known[mine], neurons)
    if np.any(neurons != NONE):  # one that nothing has read yet may change
        read = ctx.origin[ctx.kind == MATERIALIZED]
        neurons[~np.isin(neurons, read)] = NONE
    return neurons
