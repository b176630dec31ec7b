"""Integers that begin anew at the other end of their type, as neurons do not.

A network computes in float64: 3 − 5 is −2 in it, and 254 in UINT8. The least and the largest
difference, sum or product of such integers follow from the types of inputs, from constants, and
from casts of truth values.
"""

from itertools import compress, product
from typing import NamedTuple

from neat_onnx.errors import ModelError, abridged, warn
from neat_onnx.model import DataType, Graph, Node
from neat_onnx.model.node import operator_of
from neat_onnx.model.operator_types import TRUTH, operator_types

_PAIRED = {"Add": int.__add__, "Sub": int.__sub__, "Mul": int.__mul__}
_ZERO_POINT = 2  # the input of QuantizeLinear that says the type
_MOST = 1 << 16  # wider types hold the sums and products that models make


class _Range(NamedTuple):
    """Integers of a type, from `low` to `high`."""

    kind: DataType
    low: int
    high: int


def _whole(kind: DataType) -> _Range | None:
    """All integers of a type that has few, or no negative ones; truth values are 0 and 1."""
    if kind is DataType.BOOL:
        return _Range(kind, 0, 1)
    if "INT" not in kind.name or kind in (DataType.INT32, DataType.INT64):
        return None
    unsigned, bits = kind.name.startswith("UINT"), int(kind.name.partition("INT")[2])
    return _Range(kind, 0, 2**bits - 1) if unsigned else _Range(kind, -(2 ** (bits - 1)),
                                                                2 ** (bits - 1) - 1)  # fmt: skip


def check_narrow_integers(graph: Graph) -> None:
    """Refuse differences of unsigned integers that may be negative; warn of sums that may wrap.

    Raises:
        ModelError: it names the node.
    """
    known = {entry.name: _whole(entry.elem_type) for entry in graph.inputs}
    for tensor in graph.initializer:
        each = _whole(tensor.data_type) if tensor.size else None
        values = tensor.values
        known[tensor.name] = each and _Range(each.kind, int(values.min()), int(values.max()))
    computed = {entry.name for entry in graph.inputs}
    may_wrap = []
    for node in graph.node:
        if computed.isdisjoint(node.input):
            continue
        computed.update(node.output)
        found = _result(node, [known.get(name) for name in node.input])
        whole = found and _whole(found.kind)
        if found and whole and (found.low < whole.low or found.high > whole.high):
            if _wraps(node, found, whole):
                _refuse(node, found)
            if whole.high < _MOST:
                may_wrap.append(node)
            found = whole
        _, alike = operator_types(node.op_type, node.domain).alike(
            node
        )  # a place is of another type
        known.update(dict.fromkeys(compress(node.output, alike), found))
    if may_wrap:
        warn(
            f"integers that are more than their type holds begin anew at its other end in the "
            f"model at node {abridged(node.label for node in may_wrap)}, and grow on in the network"
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
    given = [*compress(given, types.alike(node)[0])]
    ranges = [each for each in given if each]
    if not ranges:
        return None
    kind, lows, highs = ranges[0].kind, [each.low for each in ranges], [e.high for e in ranges]
    if len(ranges) == len(given) == 2 and (pairs := _PAIRED.get(node.op_type)):
        low, high, other_low, other_high = lows[0], highs[0], lows[1], highs[1]
        results = [pairs(a, b) for a, b in product((low, high), (other_low, other_high))]
        return _Range(kind, min(results), max(results))
    if len(ranges) == len(given) and node.op_type in ("Max", "Min"):
        extreme = max if node.op_type == "Max" else min
        return _Range(kind, extreme(lows), extreme(highs))
    if operator_of(node).picks:
        return _Range(kind, min(lows), max(highs))
    return _whole(kind)


def _converted(node: Node, given: list[_Range | None]) -> _Range | None:
    """The integers of the type that a node converts to: of truth values, 0 and 1 alone."""
    if node.op_type == "Cast":
        whole = _whole(DataType(node.given_attributes["to"]))
        truth = given[0] and given[0].kind is DataType.BOOL
        return whole and _Range(whole.kind, 0, 1) if truth else whole
    like = given[_ZERO_POINT if node.op_type == "QuantizeLinear" else 1 :]
    return _whole(like[0].kind) if like and like[0] else None
