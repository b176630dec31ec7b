"""The largest elements of a row and their places; the first few, one after the other.

A round takes the largest element that is left: it is the first that equals the maximum. It then is
out of the way: all are made smaller, and so much is taken from it that it stays below all others,
whatever finite number of float32 they are; in float64, as the largest magnitude demands.
"""

import numpy as np

from neat_onnx.lifting.context import Operand, Value
from neat_onnx.model import DataType
from neat_onnx.operators.algebra import Algebra, rearranged

_FEW = 3
_MOST_PART = 2
_MANY, _LEAST_PART = 64, 8
_PAIRS = 60  # squares of the size, for each of which comparing all takes as much as a round
_SMALLER = 0.25  # a power of two: exact, and what is taken does not overflow
_BELOW = 3.0  # times the largest magnitude
_BELOW_SINGLE = 2.0**127  # a quarter of any number of float32 minus this is below any quarter


def hits_of(
    tensors: Algebra, x: Operand, axes: tuple[int, ...], aggregation: str = "max"
) -> tuple[Operand, Operand]:
    """The largest element along axes, or the smallest ("min"), and 1 for each that equals it."""
    x = tensors.activations(x)
    extreme = tensors.reduced(aggregation, x, axes)
    return extreme, tensors("number", tensors("equal", tensors("sub", x, extreme), 0.0))


def first_hit(tensors: Algebra, hits: Operand, axis: int, *, last: bool = False) -> Operand:
    """1 at the first hit along an axis, else 0; hits are 1 and 0.

    A hit minus the number of hits before it is above 0 for the first only.
    """
    size = hits.shape[axis]
    before = tensors.triangle(size, -1)
    found = tensors.along(hits, axis, np.eye(size) - (before.T if last else before))
    return tensors("number", tensors("greater", found, 0.5))


def place_of(tensors: Algebra, choice: Operand, axis: int, *, keepdims: bool) -> Operand:
    """The place along an axis of the only 1."""
    number = np.arange(choice.shape[axis], dtype=np.float64)[None, :]
    found = tensors.along(choice, axis, number)
    if keepdims:
        return found
    return rearranged(found, lambda array: np.squeeze(array, axis))


def is_by_rounds(count: int, size: int) -> bool:
    """Whether rounds are written shorter than comparing each element with each other, or, of many
    elements, are fewer neurons; one element alone has no other.
    """
    few = min(size // _MOST_PART, _FEW + size * size // _PAIRS)
    return size == 1 or count <= (few if size <= _MANY else size // _LEAST_PART)


def choices(tensors: Algebra, x: Operand, count: int, *, largest: bool) -> Operand:
    """For each of the first `count` places, 1 for the element of the last axis there, else 0.

    Returns:
        As many more elements along one more axis before the last: (…, count, size).
    """
    left = tensors.activations(_made_smaller(tensors, x, count, largest=largest))
    below = _below(tensors, left) if count > 1 else np.zeros(1)
    found: list[Operand] = []
    for _ in range(count):
        _, hits = hits_of(tensors, left, (-1,))
        first = tensors.activations(first_hit(tensors, hits, len(hits.shape) - 1))
        found.append(first)
        if len(found) < count:
            gone = tensors("mul", below, first)
            left = tensors.activations(tensors("sub", left, gone))
    if not isinstance(left, Value):
        return np.stack([np.asarray(each) for each in found], axis=-2)
    signals = [each.signals for each in found if isinstance(each, Value)]
    return Value(np.stack(signals, axis=-2))


def _below(tensors: Algebra, left: Operand) -> Operand:
    """A number to take from an element so that it is below all others; a constant is a weight."""
    if tensors.data_type is DataType.FLOAT:
        return np.array([_BELOW_SINGLE])
    magnitude = tensors.reduced("max", tensors("abs", left), (-1,))
    return tensors.activations(tensors("add", tensors("mul", magnitude, _BELOW), 1.0))


def _made_smaller(tensors: Algebra, x: Operand, count: int, *, largest: bool) -> Operand:
    """The elements whose largest are to be taken, smaller if anything is taken from them."""
    if count > 1:
        return tensors("mul", x, np.array([_SMALLER if largest else -_SMALLER]))
    return x if largest else tensors("neg", x)
