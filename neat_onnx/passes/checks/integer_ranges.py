"""The least and the largest integer that an operator may give of integers with known bounds.

They are Python's integers, which never begin anew at the other end of a type.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import NamedTuple

from neat_onnx.model import DataType, Node
from neat_onnx.model.node import operator_of
from neat_onnx.model.draft import Draft

_PAIRED: dict[str, Callable[[int, int], int]] = {
    "Add": int.__add__,
    "Sub": int.__sub__,
    "Mul": int.__mul__,
    "Div": lambda x, y: abs(x) // max(abs(y), 1) * (-1 if (x < 0) != (y < 0) else 1),
}
_OF_ONE: dict[str, Callable[[int], int]] = {
    "Abs": abs,
    "Neg": int.__neg__,
    "Relu": lambda x: max(x, 0),
    "Sign": lambda x: (x > 0) - (x < 0),
}
_AMONG = frozenset({"Clip", "ReduceMax", "ReduceMean", "ReduceMin"})
_PRODUCTS = frozenset({"ConvInteger", "Einsum", "Gemm", "MatMul", "MatMulInteger"})
_WITH_ZEROS = frozenset({"ConvInteger", "MatMulInteger"})  # points of zero, which are subtracted
_ADDED: dict[str, Callable[[int], int]] = {
    "CumSum": int,
    "ReduceL1": abs,
    "ReduceSum": int,
    "ReduceSumSquare": lambda x: x * x,
}
_TWO = 2
_MAX_POWER = 64


class IntegerRange(NamedTuple):
    """Integers of a type, from `low` to `high`."""

    kind: DataType
    low: int
    high: int

    def is_within(self, other: "IntegerRange") -> bool:
        """Whether all of them are among others."""
        return other.low <= self.low and self.high <= other.high

    def over(self, results: Iterable[int]) -> "IntegerRange":
        """The integers of the same type from the least result to the largest one."""
        each = [*results]
        return IntegerRange(self.kind, min(each), max(each))


def whole_range(kind: DataType) -> IntegerRange | None:
    """All integers of a type, None of another type; truth values are 0 and 1."""
    if kind is DataType.BOOL:
        return IntegerRange(kind, 0, 1)
    if "INT" not in kind.name:
        return None
    unsigned, bits = kind.name.startswith("UINT"), int(kind.name.partition("INT")[2])
    half = 2 ** (bits - 1)
    return IntegerRange(kind, 0, 2 * half - 1) if unsigned else IntegerRange(kind, -half, half - 1)


def computed_range(node: Node, ranges: Sequence[IntegerRange], draft: Draft) -> IntegerRange | None:
    """The integers that a node gives of integers that are known; None where they are not.

    Args:
        node: reads and gives integers of one type.
        ranges: of its inputs of this type, one or more.
        draft: the graph, for the sizes of tensors.
    """
    one, other = ranges[0], ranges[-1]
    if len(ranges) == _TWO and (pairs := _PAIRED.get(node.op_type)):
        return one.over(pairs(*ends) for ends in product(one[1:], _divisors(node, other)))
    if node.op_type == "Pow":
        return _power(one, other)
    if node.op_type == "Mod":
        most = max(abs(other.low), abs(other.high), 1) - 1
        above = one.low >= 0 if node.given_attributes.get("fmod") else other.low >= 0
        return one.over((0 if above else -most, most))
    if node.op_type in ("Max", "Min"):
        extreme = max if node.op_type == "Max" else min
        return one.over(extreme(ends) for ends in zip(*(each[1:] for each in ranges), strict=True))
    if operation := _OF_ONE.get(node.op_type):
        return one.over(map(operation, _turning(one)))
    if node.op_type in _AMONG or operator_of(node).picks:
        return one.over(end for each in ranges for end in each[1:])
    return _of_many(node, ranges, draft)


def _divisors(node: Node, other: IntegerRange) -> list[int]:
    """The ends of a second operand; of a divisor also the ones nearest to 0."""
    near = [end for end in (-1, 1) if other.low <= end <= other.high]
    return [other.low, other.high, *(near if node.op_type == "Div" else [])]


def _turning(one: IntegerRange) -> list[int]:
    """The ends of a range, and 0 if it is between them: functions of one number may turn there."""
    return [one.low, one.high, *([0] if one.low < 0 < one.high else [])]


def _of_many(node: Node, ranges: Sequence[IntegerRange], draft: Draft) -> IntegerRange | None:
    """The sums, and the products, of the elements along axes of a tensor."""
    one = ranges[0]
    if node.op_type in _PRODUCTS:
        return sum_of_products(node, ranges, draft)
    if operation := _ADDED.get(node.op_type):
        count, terms = _elements(node, draft), one.over(map(operation, _turning(one)))
        return one.over(times * end for times in (1, count) for end in terms[1:])
    if node.op_type == "ReduceProd":
        count = min(_elements(node, draft), _MAX_POWER)
        most = max(abs(one.low), abs(one.high)) ** count
        return one.over((0 if one.low >= 0 else -most, most))
    return None


def sum_of_products(
    node: Node, ranges: Sequence[IntegerRange | None], draft: Draft
) -> IntegerRange | None:
    """The sums of products that MatMul and the like give; None if their factors are not known.

    Args:
        node: MatMul, Gemm, Einsum, MatMulInteger or ConvInteger.
        ranges: of its inputs; None for one that is not known, or left out.
        draft: the graph, for the number of terms.
    """
    known = [each for each in ranges if each]
    if node.op_type in _WITH_ZEROS:
        zeros = [*ranges[_TWO:], None, None]
        factors = [_shifted(each, zero) for each, zero in zip(ranges[:_TWO], zeros, strict=False)]
    else:
        factors = [*(known if node.op_type == "Einsum" else known[:_TWO])]
    ends = [each[1:] for each in factors if each]
    if not known or len(ends) < len(factors):
        return None
    count = _terms(node, draft)
    sums = known[0].over(count * math.prod(each) for each in product(*ends))
    if node.op_type == "Gemm" and len(known) > _TWO:
        return sums.over(x + y for x, y in zip(sums[1:], known[_TWO][1:], strict=True))
    return sums


def _shifted(given: IntegerRange | None, zero: IntegerRange | None) -> IntegerRange | None:
    if given is None or zero is None:
        return given
    return given.over((given.low - zero.high, given.high - zero.low))


def _power(base: IntegerRange, exponent: IntegerRange) -> IntegerRange:
    """The powers of integers, which are 0, 1 or -1 where their exponent is negative."""
    low, high = (min(max(end, 0), _MAX_POWER) for end in exponent[1:])
    if exponent.low == exponent.high == low:
        return base.over(each**low for each in _turning(base))
    most = max(abs(base.low), abs(base.high), 1) ** high
    return base.over((0 if base.low >= 0 else -most, most))


def _terms(node: Node, draft: Draft) -> int:
    """How many products each sum of a node has."""
    first, second = (draft.facts(name).shape or () for name in node.input[:_TWO])
    if node.op_type == "Einsum":
        return _contracted(node, draft)
    if node.op_type == "ConvInteger":
        return _product(second[1:])
    return _product(first[:1] if node.given_attributes.get("transA") else first[-1:])


def _contracted(node: Node, draft: Draft) -> int:
    """The product of the sizes of the axes of an Einsum that its result does not have."""
    reads, arrow, gives = node.given_attributes["equation"].replace(" ", "").partition("->")
    if not arrow:
        gives = "".join(letter for letter in reads if reads.count(letter) == 1)
    sizes: dict[str, object] = {}
    for name, letters in zip(node.input, reads.split(","), strict=True):
        shape = draft.facts(name).shape or ()
        before, _, behind = letters.partition("...")
        sizes |= {**dict(zip(before, shape, strict=False)),
                  **dict(zip(behind[::-1], shape[::-1], strict=False))}  # fmt: skip
    return _product(size for letter, size in sizes.items() if letter not in gives)


def _elements(node: Node, draft: Draft) -> int:
    """How many elements a reduction or a running sum adds up."""
    shape = draft.facts(node.input[0]).shape or ()
    given = draft.tensors.get(node.input[1]) if len(node.input) > 1 and node.input[1] else None
    if given is None:
        return _product(shape)
    axes = given.values.ravel().tolist()
    if not axes:
        return 1 if node.given_attributes.get("noop_with_empty_axes") else _product(shape)
    return _product(shape[axis] for axis in axes if -len(shape) <= axis < len(shape))


def _product(sizes: Iterable[object]) -> int:
    """The product of sizes; one that is not known counts once, as that of the batch."""
    return math.prod(size for size in sizes if isinstance(size, int) and size > 0)
