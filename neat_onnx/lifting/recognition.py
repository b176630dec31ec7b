"""Names of formulas: which activation, or which aggregation, a formula of a graph is."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from neat_onnx.lifting.values import Value
from neat_onnx.model import DataType
from neat_onnx.network.activations import ACTIVATIONS, FORMULA, activation_named
from neat_onnx.network.aggregations import AGGREGATIONS
from neat_onnx.network.expression import Expression, parts_of, scalar_slope
from neat_onnx.network.runtime_formulas import writable, writings

_Key = ParamSpec("_Key")
_Known = TypeVar("_Known")


def _of_registered(
    registry: dict[str, Any],
) -> Callable[[Callable[_Key, _Known]], Callable[_Key, _Known]]:
    """Keep the results of a function for as long as a registry stays as it is.

    The registry is compared by identity, entry by entry: hashing its formulas at each node of a
    graph would take longer than all else.
    """

    def keeping(function: Callable[_Key, _Known]) -> Callable[_Key, _Known]:
        results: dict[Any, tuple[tuple[Any, ...], _Known]] = {}

        def kept(*key: _Key.args, **options: _Key.kwargs) -> _Known:
            entries = tuple(registry.values())
            found = results.get(key)
            if found is None or found[0] != entries:
                found = results[key] = entries, function(*key, **options)
            return found[1]

        return kept

    return keeping


def known_activation(formula: Expression, data_type: DataType) -> tuple[str, float] | None:
    """(name, c) such that `formula` of z, in a model of this type, is that activation of z / c.

    c is 1 where the formula is written as it is; with `fold` a slope has gone into the weights, and
    other tools write slopes of their own. Names are found by numbers as float32 has them, and the
    slope is that of the formula itself: a factor of integers or of float64 has more digits.
    """
    known = _activations(data_type)
    rounded = _rounded(formula, data_type)
    if rounded in known:
        return known[rounded]
    slope, core = scalar_slope(rounded)
    factors, _ = formula.stripped
    if len(factors) == 1:
        slope = factors[0]
    if core not in known or not slope:
        return None
    name, steeper = known[core]
    return name, steeper / slope


@_of_registered(ACTIVATIONS)
def _activations(data_type: DataType) -> dict[Expression, tuple[str, float]]:
    whole: dict[Expression, tuple[str, float]] = {}
    folded: dict[Expression, tuple[str, float]] = {}
    for each in ACTIVATIONS.values():
        slope, core = scalar_slope(each.expression)
        for written in writings(each.expression, data_type.dtype):
            whole[_rounded(written, data_type)] = (each.name, 1.0)
        for written in writings(core, data_type.dtype):
            folded.setdefault(_rounded(written, data_type), (each.name, slope))
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
        parts = _all_parts(data_type)
        if formula in parts or scalar_slope(formula)[1] in parts:
            return True
    return formula in _parts_over(data_type, inputs)


@_of_registered(ACTIVATIONS)
def _all_parts(data_type: DataType) -> frozenset[Expression]:
    known = _activations(data_type)
    return frozenset(part for formula in known for part in parts_of(formula))


@_of_registered(AGGREGATIONS)
def _parts_over(data_type: DataType, inputs: int) -> frozenset[Expression]:
    known = _aggregations(data_type, inputs)
    return frozenset(part for formula in known for part in parts_of(formula))


def known_aggregation(formula: Expression, inputs: int, data_type: DataType) -> str | None:
    """The name of the aggregation of this many inputs that is written as `formula`."""
    known = _aggregations(data_type, inputs)
    return known.get(_rounded(formula, data_type))


@_of_registered(AGGREGATIONS)
def _aggregations(data_type: DataType, inputs: int) -> dict[Expression, str]:
    return {
        _rounded(writable(each.expression(inputs), data_type.dtype), data_type): each.name
        for each in AGGREGATIONS.values()
        if not each.linear
    }


def _rounded(formula: Expression, data_type: DataType) -> Expression:
    return formula if data_type is DataType.DOUBLE else formula.single
