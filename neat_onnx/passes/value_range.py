"""The range of a tensor's values, from the operators that give it: an interval that holds all."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import Draft

Interval = tuple[float, float]

_ANY: Interval = (-math.inf, math.inf)
_MOST_NODES = 24  # that are looked through, one behind the other
_GIVEN: dict[str, Interval] = {
    **dict.fromkeys(("Tanh", "Sin", "Cos", "Erf", "Softsign", "Sign"), (-1.0, 1.0)),
    **dict.fromkeys(("Sigmoid", "HardSigmoid", "Softmax", "Hardmax"), (0.0, 1.0)),
    **dict.fromkeys(("Abs", "Exp", "Relu", "Softplus", "Sqrt"), (0.0, math.inf)),
}
_MOVING = frozenset({"Flatten", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Split"}) | {
    "Transpose",
    "Unsqueeze",
}
"""Operators that move the elements of their first input."""

_ROUNDING: dict[str, Callable[[float], float]] = {
    "Cast": lambda x: math.trunc(x) if math.isfinite(x) else x,
    "Ceil": lambda x: math.ceil(x) if math.isfinite(x) else x,
    "Floor": lambda x: math.floor(x) if math.isfinite(x) else x,
    "Round": lambda x: round(x) if math.isfinite(x) else x,
}
_OF_TWO: dict[str, Callable[[float, float], float]] = {
    "Add": lambda x, y: x + y,
    "Max": max,
    "Min": min,
    "Mul": lambda x, y: 0.0 if 0.0 in (x, y) else x * y,
    "Sub": lambda x, y: x - y,
}


def value_range(draft: Draft, name: str, depth: int = _MOST_NODES) -> Interval:
    """The least and the largest value that a tensor may have; infinite where that is not known.

    Args:
        draft: the graph.
        name: the tensor.
        depth: the nodes behind one another that are looked through.
    """
    tensor = draft.tensors.get(name)
    if tensor is not None:
        return _of_constant(tensor.values)
    node = draft.producers.get(name)
    if node is None or node.domain or not depth:
        return _ANY

    def of(place: int) -> Interval:
        return value_range(draft, node.input[place], depth - 1)

    if node.op_type in _MOVING:
        return of(0)
    if node.op_type in _ROUNDING:
        low, high = map(_ROUNDING[node.op_type], of(0))
        return low, high
    if node.op_type in _OF_TWO and len(node.input) == 2:
        ends = [_OF_TWO[node.op_type](x, y) for x, y in product(of(0), of(1))]
        return _ANY if any(map(math.isnan, ends)) else (min(ends), max(ends))
    return _of_operator(draft, node, of)


def _of_operator(draft: Draft, node: Node, of: Callable[[int], Interval]) -> Interval:
    if node.op_type in ("ArgMax", "ArgMin"):
        shape = draft.facts(node.input[0]).shape or ()
        axis = node.given_attributes.get("axis", 0)
        size = shape[axis] if -len(shape) <= axis < len(shape) else None
        return 0.0, size - 1.0 if isinstance(size, int) else math.inf
    if node.op_type == "Clip" and len(node.input) > 2:
        (low, _), (_, high) = of(1), of(2)
        return low, high
    if node.op_type == "Mod" and not node.given_attributes.get("fmod"):
        least, most = of(1)
        return (0.0, most - 1.0) if least > 0.0 else _ANY  # of integers
    return _GIVEN.get(node.op_type, _ANY)


def _of_constant(values: np.ndarray) -> Interval:
    if not values.size or values.dtype.kind not in "biuf" or np.any(np.isnan(values)):
        return _ANY
    return float(values.min()), float(values.max())
