"""Names of formulas: which activation, or which aggregation, a formula of a graph is."""

from functools import cache

import numpy as np

from neat_onnx.lifting.context import Value
from neat_onnx.lowering.kernels import writable
from neat_onnx.model import DataType
from neat_onnx.network.activations import ACTIVATIONS, FORMULA, Activation, activation_named
from neat_onnx.network.aggregations import AGGREGATIONS, Aggregation
from neat_onnx.network.expression import Expression, parts_of, scalar_slope


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


def activation_name(formula: Expression, data_type: DataType) -> tuple[str, float]:
    """Return (name, c) as `known_activation` does; a formula without a name is its own text.

    Raises:
        NetworkError: it is too large to be carried as text.
    """
    known = known_activation(formula, data_type)
    if known is not None:
        return known
    name = f"{FORMULA}{formula}"
    activation_named(name)
    return name, 1.0


def is_part(formula: Expression, value: Value, data_type: DataType) -> bool:
    """Whether something known has `formula` of a value in it, whatever the slope."""
    formula = _rounded(formula, data_type)
    inputs = value.signals.shape[-1] if value.signals.ndim else 1
    if not value.reduced:
        parts = _all_parts(data_type, tuple(ACTIVATIONS.values()))
        if formula in parts or scalar_slope(formula)[1] in parts:
            return True
    return formula in _parts_over(data_type, inputs, tuple(AGGREGATIONS.values()))


@cache
def _all_parts(data_type: DataType, registered: tuple[Activation, ...]) -> frozenset[Expression]:
    known = _activations(data_type, registered)
    return frozenset(part for formula in known for part in parts_of(formula))


@cache
def _parts_over(
    data_type: DataType, inputs: int, registered: tuple[Aggregation, ...]
) -> frozenset[Expression]:
    known = _aggregations(data_type, inputs, registered)
    return frozenset(part for formula in known for part in parts_of(formula))


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
