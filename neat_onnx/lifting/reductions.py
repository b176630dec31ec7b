"""Neurons for formulas over rows of inputs: aggregations, places in an order, sums of such.

The k-th smallest of n inputs is a median, if the largest of them is among its inputs 2k - 1 - n
times more, or the smallest n + 1 - 2k times more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting.values import Value
from neat_onnx.network.expression import Expression, parts_of
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.network.primitives import REDUCING

if TYPE_CHECKING:
    from neat_onnx.lifting.context import LiftingContext

_AGGREGATIONS = {"total": "sum", "product": "product", "largest": "max", "smallest": "min"}
_SIGNS = {"add": 1.0, "sub": -1.0}


class NoNeuronError(ModelError):
    """No neuron gives a value; the node that reads it is not known yet."""


def place_in_order(formula: Expression) -> tuple[Expression, int] | None:
    """(inner, k) of a formula that is the k-th smallest of `inner`, counted from 1."""
    if formula.op != "largest" or formula.args[0].op != "lowest":
        return None
    inner, count = formula.args[0].args
    return None if _reduces(inner) else (inner, int(count.value))


def neurons_of(ctx: LiftingContext, value: Value) -> Value:
    """The neurons that a reduced value is.

    Raises:
        NoNeuronError: its formula is none of these.
    """
    formula = value.formula
    aggregation = _AGGREGATIONS.get(formula.op)
    place = place_in_order(formula)
    if place is not None:
        return _in_order(ctx, _inputs(ctx, value, place[0]), place[1])
    if aggregation is not None and not _reduces(formula.args[0]):
        return _aggregated(ctx, aggregation, _inputs(ctx, value, formula.args[0]))
    if formula.op in _SIGNS and all(map(_reduces, formula.args)):
        one, other = (ctx.materialize(replace(value, formula=each)) for each in formula.args)
        inputs = np.stack([one, other], axis=-1)
        return _aggregated(ctx, "sum", inputs, np.array([1.0, _SIGNS[formula.op]]))
    text = formula.text("v")
    raise NoNeuronError(
        f"the formula {text} of its input v is no known aggregation",
        hint=f'Register it: neat_onnx.register_aggregation("name", lambda v, k: {text}), with '
        "the functions of neat_onnx.network.expression",
    )


def _reduces(formula: Expression) -> bool:
    return any(part.op in REDUCING for part in parts_of(formula))


def _inputs(ctx: LiftingContext, value: Value, inner: Expression) -> Ints:
    return ctx.materialize(replace(value, formula=inner, reduced=False))


def _aggregated(
    ctx: LiftingContext, aggregation: str, inputs: Ints, weights: Floats | None = None
) -> Value:
    """Neurons over the last axis of signals, with these weights, or with 1."""
    shape, size = inputs.shape[:-1], inputs.shape[-1]
    count = inputs.size // size
    made = ctx.add_neurons(count, aggregation=aggregation)
    each = np.tile(np.ones(size) if weights is None else weights, count)
    ctx.connect(made, inputs, np.repeat(np.arange(count), size), each)
    return Value(made.signals.reshape(shape))


def _in_order(ctx: LiftingContext, inputs: Ints, place: int) -> Value:
    """The `place`-th smallest along the last axis, from 1."""
    size = inputs.shape[-1]
    more = 2 * place - 1 - size
    if more == 0:
        return _aggregated(ctx, "median", inputs)
    extreme = _aggregated(ctx, "max" if more > 0 else "min", inputs)
    if place in (1, size):
        return extreme
    again = np.repeat(ctx.materialize(extreme)[..., None], abs(more), axis=-1)
    return _aggregated(ctx, "median", np.concatenate([inputs, again], axis=-1))
