"""The range of a tensor's values, from the operators that give it: an interval that holds all."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np

from neat_onnx.model import DataType, Node
from neat_onnx.model.draft import Draft
from neat_onnx.model.operator_kinds import MOVING

Interval = tuple[float, float]

_ANY: Interval = (-math.inf, math.inf)
_FEW_BITS = 16
_MAX_NODES_BACK = 24  # one behind the other
_GIVEN: dict[str, Interval] = {
    **dict.fromkeys(("Tanh", "Sin", "Cos", "Erf", "Softsign", "Sign"), (-1.0, 1.0)),
    **dict.fromkeys(("Sigmoid", "HardSigmoid", "Softmax", "Hardmax"), (0.0, 1.0)),
    **dict.fromkeys(("Abs", "Exp", "Relu", "Softplus", "Sqrt"), (0.0, math.inf)),
}
_ROUNDING: dict[str, Callable[[float], float]] = {
    "Ceil": math.ceil,
    "Floor": math.floor,
    "Round": round,
}
_OF_TWO: dict[str, Callable[[float, float], float]] = {
    "Add": lambda x, y: x + y,
    "Max": max,
    "Min": min,
    "Mul": lambda x, y: 0.0 if 0.0 in (x, y) else x * y,
    "Sub": lambda x, y: x - y,
}
_CHOOSING = ("Max", "Min")
_INT32_LIMIT = 2.0**31  # integers of 32 bits begin anew there
_RELATIVE_MARGIN = 1e-6  # of a bound: float32 may round a number above it


def value_range(draft: Draft, name: str) -> Interval:
    """The least and the largest value that a tensor may have; infinite where that is not known.

    NaN is left out of account: as an index it is none.

    Args:
        draft: the graph.
        name: the tensor.
    """
    return _Ranges(draft).of(name, _MAX_NODES_BACK)


class _Ranges:
    """The ranges of the tensors of a graph, each found once."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._known: dict[str, Interval] = {}

    def of(self, name: str, depth: int) -> Interval:
        """The range of a tensor, as far as so many nodes behind one another tell it."""
        if name not in self._known:
            self._known[name] = self._of_type(name, self._found(name, depth))
        return self._known[name]

    def _of_type(self, name: str, found: Interval) -> Interval:
        """The range, that of the tensor's type where it is one of few integers that goes beyond."""
        kind = self._draft.facts(name).elem_type
        if kind is None or not kind.is_integer or kind.bits > _FEW_BITS:
            return found
        low, high = map(float, kind.limits)
        return found if low <= found[0] and found[1] <= high else (low, high)

    def _found(self, name: str, depth: int) -> Interval:
        tensor = self._draft.tensors.get(name)
        if tensor is not None:
            return _of_constant(tensor.values)
        node = self._draft.producers.get(name)
        if node is None or node.domain or not depth:
            return _ANY
        given = [self.of(each, depth - 1) for each in node.input if each]
        if node.op_type in MOVING and given:
            return given[0]
        if node.op_type == "Cast":
            return _cast(DataType(node.given_attributes["to"]), given[0])
        if node.op_type in _ROUNDING:
            return _rounded(_ROUNDING[node.op_type], given[0])
        if node.op_type in _OF_TWO and len(given) == 2:
            return _of_two(node.op_type, *given)
        return self._of_operator(node, given)

    def _of_operator(self, node: Node, given: list[Interval]) -> Interval:
        if node.op_type in ("ArgMax", "ArgMin"):
            shape = self._draft.facts(node.input[0]).shape or ()
            axis = node.given_attributes.get("axis", 0)
            size = shape[axis] if -len(shape) <= axis < len(shape) else None
            return 0.0, size - 1.0 if isinstance(size, int) else math.inf
        if node.op_type == "Clip" and len(given) == 3:
            (low, _), (_, high) = given[1:]
            return min(low, high), high
        if node.op_type == "Mod" and len(given) == 2 and not node.given_attributes.get("fmod"):
            least, most = given[1]
            return (0.0, most - 1.0) if least > 0.0 else _ANY  # of integers
        return _GIVEN.get(node.op_type, _ANY)


def _cast(to: DataType, given: Interval) -> Interval:
    if to is DataType.BOOL:
        return 0.0, 1.0
    return _rounded(math.trunc, given) if to.is_integer else given


def _rounded(way: Callable[[float], float], given: Interval) -> Interval:
    """The range of numbers that are rounded; none is known of infinite ones, or of large ones."""
    low, high = given
    if not max(abs(low), abs(high)) < _INT32_LIMIT:
        return _ANY
    wider = low - _RELATIVE_MARGIN * abs(low), high + _RELATIVE_MARGIN * abs(high)
    return float(way(wider[0])), float(way(wider[1]))


def _of_two(operator: str, one: Interval, other: Interval) -> Interval:
    results = [_OF_TWO[operator](x, y) for x, y in product(one, other)]
    if operator not in _CHOOSING and not max(map(abs, results)) < _INT32_LIMIT:
        return _ANY
    return min(results), max(results)


def _of_constant(values: np.ndarray) -> Interval:
    if not values.size or values.dtype.kind not in "biuf" or np.any(np.isnan(values)):
        return _ANY
    return float(values.min()), float(values.max())
