"""Integers that begin anew at the other end of their type, as neurons do not.

A network computes in float64: 3 − 5 is −2 in it, and 254 in UINT8. The least and the largest
difference, sum, product or power of such integers follow from the types of inputs, from constants,
and from casts of truth values. Inputs of 32 or 64 bits are taken to be ordinary ones, of 16 bits
and a sign: whatever is computed of all that they could be might begin anew.
"""

from itertools import compress, product
from typing import NamedTuple

from neat_onnx.errors import ModelError, abridged, warn
from neat_onnx.model import DataType, Graph, Node
from neat_onnx.model.node import operator_of
from neat_onnx.model.operator_types import TRUTH, operator_types
from neat_onnx.model.semantics import gives_sizes

_PAIRED = {"Add": int.__add__, "Sub": int.__sub__, "Mul": int.__mul__}
_PAIR = 2
_ZERO_POINT = 2  # the input of QuantizeLinear that says the type
_ORDINARY = 1 << 16
_EXACT = 1 << 53  # float64 has each integer up to it
_MAX_POWER = 64


class _Range(NamedTuple):
    """Integers of a type, from `low` to `high`."""

    kind: DataType
    low: int
    high: int

    def is_within(self, other: "_Range") -> bool:
        """Whether all of them are among others."""
        return other.low <= self.low and self.high <= other.high


def _whole(kind: DataType) -> _Range | None:
    """All integers of a type, None of another type; truth values are 0 and 1."""
    if kind is DataType.BOOL:
        return _Range(kind, 0, 1)
    if "INT" not in kind.name:
        return None
    unsigned, bits = kind.name.startswith("UINT"), int(kind.name.partition("INT")[2])
    return _Range(kind, 0, 2**bits - 1) if unsigned else _Range(kind, -(2 ** (bits - 1)),
                                                                2 ** (bits - 1) - 1)  # fmt: skip


def _ordinary(kind: DataType) -> _Range | None:
    """The integers of a type that an input is taken to have."""
    whole = _whole(kind)
    return whole and _Range(kind, max(whole.low, -_ORDINARY), min(whole.high, _ORDINARY))


def check_narrow_integers(graph: Graph) -> None:
    """Refuse differences of unsigned integers that may be negative; warn of sums that may wrap.

    Raises:
        ModelError: it names the node.
    """
    known = {entry.name: _ordinary(entry.elem_type) for entry in graph.inputs}
    for tensor in graph.initializer:
        each = _whole(tensor.data_type) if tensor.size else None
        values = tensor.values
        known[tensor.name] = each and _Range(each.kind, int(values.min()), int(values.max()))
    computed = {entry.name for entry in graph.inputs}
    wrapping, rounded = [], []
    for node in graph.node:
        if computed.isdisjoint(node.input) or gives_sizes(node):
            continue
        computed.update(node.output)
        found = _result(node, [known.get(name) for name in node.input])
        whole = found and _whole(found.kind)
        if found and whole and not found.is_within(whole):
            if _wraps(node, found, whole):
                _refuse(node, found)
            wrapping.append(node)
            found = _ordinary(found.kind)
        elif found and max(-found.low, found.high) > _EXACT:
            rounded.append(node)
        types = operator_types(node.op_type, node.domain)
        _, alike = types.alike(node)  # a place is of another type
        known.update(dict.fromkeys(compress(node.output, alike), found))
    _warn(wrapping, rounded)


def _warn(wrapping: list[Node], rounded: list[Node]) -> None:
    """Tell of nodes whose results may begin anew, and of those that float64 may round."""
    if wrapping:
        warn(
            f"integers that are more than their type holds begin anew at its other end in the "
            f"model at node {abridged(node.label for node in wrapping)}, and grow on in the network"
        )
    if rounded:
        warn(
            f"integers beyond 2^53 at node {abridged(node.label for node in rounded)} "
            "lose their last digits in the network, which computes in float64"
        )


def _wraps(node: Node, found: _Range, whole: _Range) -> bool:
    """Whether results begin anew for ordinary inputs: negative ones of no sign, or all of them."""
    below = node.op_type == "Sub" and found.low < whole.low == 0
    return below or found.low > whole.high or found.high < whole.low


def _refuse(node: Node, found: _Range) -> None:
    raise ModelError(
        f"node {node.label}: a result of {found.low} to {found.high} is none of {found.kind.name}, "
        "and begins anew at the other end of the type, which neurons do not do",
        where="graph.node",
        hint="Cast its inputs to INT64 or FLOAT before it",
    )


def _result(node: Node, given: list[_Range | None]) -> _Range | None:
    """The integers that a node gives, before they begin anew; None of other types."""
    if node.op_type in ("Cast", "CastLike", "QuantizeLinear"):
        return _converted(node, given)
    types = operator_types(node.op_type, node.domain)
    if types.outputs[:1] == (TRUTH,):
        return _whole(DataType.BOOL)
    alike = given if node.op_type == "Pow" else [*compress(given, types.alike(node)[0])]
    ranges = [each for each in alike if each]
    if not alike or not alike[0] or not ranges:
        return _ordinary(ranges[0].kind) if ranges else None
    found = _computed(node, ranges) if len(ranges) == len(alike) else None
    return found or _ordinary(ranges[0].kind)


def _computed(node: Node, ranges: list[_Range]) -> _Range | None:
    """The integers that a node gives of integers that are known; None where they are not."""
    one, other = ranges[0], ranges[-1]
    lows, highs = [each.low for each in ranges], [each.high for each in ranges]
    if len(ranges) == _PAIR and (pairs := _PAIRED.get(node.op_type)):
        ends = product((one.low, one.high), (other.low, other.high))
        results = [pairs(*each) for each in ends]
        return _Range(one.kind, min(results), max(results))
    if node.op_type == "Pow":
        return _power(one, other)
    if node.op_type == "Mod":
        most = max(abs(other.low), abs(other.high), 1) - 1
        above = one.low >= 0 if node.given_attributes.get("fmod") else other.low >= 0
        return _Range(one.kind, 0 if above else -most, most)
    if node.op_type in ("Max", "Min"):
        extreme = max if node.op_type == "Max" else min
        return _Range(one.kind, extreme(lows), extreme(highs))
    if operator_of(node).picks:
        return _Range(one.kind, min(lows), max(highs))
    return None


def _power(base: _Range, exponent: _Range) -> _Range | None:
    """The powers of integers, where their exponent is one that is not negative."""
    if exponent.low != exponent.high or not 0 <= exponent.low <= _MAX_POWER:
        return None
    results = [base.low**exponent.low, base.high**exponent.low]
    results += [0] if base.low < 0 < base.high else []
    return _Range(base.kind, min(results), max(results))


def _converted(node: Node, given: list[_Range | None]) -> _Range | None:
    """The integers of the type that a node converts to: the same as before, if it holds them."""
    if node.op_type == "Cast":
        whole = _whole(DataType(node.given_attributes["to"]))
        return _held(whole, given[0]) if whole else None
    like = given[_ZERO_POINT if node.op_type == "QuantizeLinear" else 1 :]
    return _ordinary(like[0].kind) if like and like[0] else None


def _held(whole: _Range, given: _Range | None) -> _Range | None:
    """Integers in another type; ordinary ones where it does not hold them, and of floats."""
    if given is None or not given.is_within(whole):
        return _ordinary(whole.kind)
    return _Range(whole.kind, given.low, given.high)
