"""Elements of an import that are constant and not finite: −∞, ∞ and NaN.

Each is a signal of its own kind, which no neuron gives.
"""

import numpy as np

from neat_onnx.lifting.context import NOT_FINITE, LiftingContext, Operand, Value
from neat_onnx.model import Node
from neat_onnx.network.genes import Floats


def special(ctx: LiftingContext, operand: Operand) -> Floats | None:
    """The elements that are constant and not finite, the others being 0; None if there are none."""
    if not isinstance(operand, Value):
        found = operand.dtype.kind == "f" and not np.isfinite(operand).all()
        return np.where(np.isfinite(operand), 0.0, operand) if found else None
    if not (ctx.not_finite and operand.elementwise):
        return None
    if not np.any(ctx.kind[operand.signals] == NOT_FINITE):
        return None
    elements = np.zeros(operand.shape)
    for text, signal in ctx.not_finite.items():
        elements[operand.signals == signal] = float(text)
    return elements


def with_special(ctx: LiftingContext, node: Node, operand: Operand, elements: Floats) -> Operand:
    """The operand with the elements in place that are not finite."""
    if not isinstance(operand, Value):
        return np.where(np.isfinite(elements), operand, elements)
    signals = ctx.materialize(ctx.as_value(node, operand))
    signals, elements = (each.copy() for each in np.broadcast_arrays(signals, elements))
    for number in (np.inf, -np.inf, np.nan):
        at = np.isnan(elements) if np.isnan(number) else elements == number
        if at.any():
            signals[at] = _signal(ctx, number)
    return Value(signals)


def _signal(ctx: LiftingContext, number: float) -> int:
    """The signal of −∞, ∞ or NaN."""
    text = repr(float(number))
    if text not in ctx.not_finite:
        ctx.not_finite[text] = int(ctx.add_signals(1, NOT_FINITE)[0])
    return ctx.not_finite[text]


def replaced(ctx: LiftingContext, operand: Operand, elements: Floats | None) -> Operand:
    """The operand with 0 in place of elements that are not finite."""
    if elements is None:
        return operand
    if not isinstance(operand, Value):
        return np.where(np.isfinite(operand), operand, 0.0)
    zero = ctx.add_neurons(1).signals[0]
    return Value(np.where(ctx.kind[operand.signals] == NOT_FINITE, zero, operand.signals),
                 operand.formula)  # fmt: skip


def lowered(ctx: LiftingContext, operand: Operand, absent: Floats, low: float) -> Operand:
    """The operand with a number in place of elements that are −∞, beside others that are low."""
    return filled(ctx, replaced(ctx, operand, absent), absent, low)


def filled(ctx: LiftingContext, finite: Operand, elements: Floats, low: float) -> Operand:
    """The operand with a number in place of elements that were not finite, and are 0 now."""
    if not isinstance(finite, Value):
        return np.where(elements != 0, low, finite)
    if not np.any(elements):
        return finite
    constant = ctx.add_neurons(1, bias=low).signals[0]
    signals = ctx.materialize(finite)
    return Value(np.where(elements != 0, constant, signals))
