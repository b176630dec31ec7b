"""The largest elements of a row and their places; the first few, one after the other.

A round takes the largest element that is left: it is the first that equals the maximum. It then is
out of the way: all are made smaller, and so much is taken from it that it stays below all others,
whatever finite number of float32 they are; in float64, as the largest magnitude demands.
"""

import numpy as np

from neat_onnx.lifting.context import Operand, Value
from neat_onnx.model import DataType
from neat_onnx.operators.algebra import Algebra, rearranged

_MAX_SIZE_COMPARED = 64  # elements; in larger rows fewer neurons count, not fewer bytes
_ROUNDS_AT_LEAST = 3
_PAIRS_PER_ROUND = 60  # that take as much to compare as a round
_MIN_ELEMENTS_PER_ROUND, _MIN_ELEMENTS_PER_ROUND_OF_LARGE = 2, 8
_SMALLER = 0.25  # a power of two: exact, and what is taken does not overflow
_DROP_PER_MAGNITUDE = 3.0  # by which a taken element falls below all others
_DROP_OF_FLOAT32 = 2.0**127  # a quarter of any number of float32 minus this is below any quarter


def hits_of(
    tensors: Algebra, x: Operand, axes: tuple[int, ...], aggregation: str = "max"
) -> tuple[Operand, Operand]:
    """The largest element along axes, or the smallest ("min"), and 1 for each that equals it."""
    x = tensors.activations(x)
    extreme = tensors.reduced(aggregation, x, axes)
    return extreme, tensors("number", tensors("equal", tensors("sub", x, extreme), 0.0))


def first_hit(tensors: Algebra, hits: Operand, axis: int) -> Operand:
    """1 at the first hit along an axis, else 0; hits are 1 and 0.

    A hit minus the number of hits before it is above 0 for the first only.
    """
    size = hits.shape[axis]
    before = tensors.triangle(size, -1)  # refuses a size that has too many
    found = tensors.along(hits, axis, np.eye(size) - before)
    return tensors("number", tensors("greater", found, 0.5))


def index_of(
    tensors: Algebra, choice: Operand, axis: int, *, keepdims: bool, backwards: bool = False
) -> Operand:
    """The index along an axis of the only 1; if `backwards`, counted from the other end."""
    number = np.arange(choice.shape[axis], dtype=np.float64)[None, :]
    found = tensors.along(choice, axis, -number if backwards else number)
    if backwards:
        found = tensors("add", found, number[0, -1])
    if keepdims:
        return found
    return rearranged(found, lambda array: np.squeeze(array, axis))


def is_by_rounds(count: int, size: int) -> bool:
    """Whether rounds are written shorter than comparing each element with each other, or, of many
    elements, are fewer neurons; one element alone has no other.
    """
    rounds = _ROUNDS_AT_LEAST + size * size // _PAIRS_PER_ROUND
    most = min(size // _MIN_ELEMENTS_PER_ROUND, rounds)
    if size > _MAX_SIZE_COMPARED:
        most = size // _MIN_ELEMENTS_PER_ROUND_OF_LARGE
    return size == 1 or count <= most


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
        return np.array([_DROP_OF_FLOAT32])
    magnitude = tensors.reduced("max", tensors("abs", left), (-1,))
    return tensors.activations(tensors("add", tensors("mul", magnitude, _DROP_PER_MAGNITUDE), 1.0))


def _made_smaller(tensors: Algebra, x: Operand, count: int, *, largest: bool) -> Operand:
    """The elements whose largest are to be taken, smaller if anything is taken from them."""
    if count > 1:
        return tensors("mul", x, np.array([_SMALLER if largest else -_SMALLER]))
    return x if largest else tensors("neg", x)
