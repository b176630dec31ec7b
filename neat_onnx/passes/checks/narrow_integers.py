"""Integers that begin anew at the other end of their type, as neurons do not.

A network computes in float64: 3 − 5 is −2 in it, and 254 in UINT8. The least and the largest
difference, sum, product or power of such integers follow from the types of inputs, from constants,
and from casts of truth values. Inputs of 32 or 64 bits are taken to be ordinary ones, of 16 bits
and a sign: whatever is computed of all that they could be might begin anew.
"""

from itertools import compress

from neat_onnx.errors import ModelError, abridged, warn
from neat_onnx.model import DataType, Model, Node
from neat_onnx.model.operator_types import TRUTH, operator_types
from neat_onnx.model.semantics import gives_sizes
from neat_onnx.passes.checks.integer_ranges import (
    IntegerRange,
    computed_range,
    sum_of_products,
    whole_range,
)
from neat_onnx.model.draft import Draft

_ZERO_POINT = 2  # the input of QuantizeLinear that says the type
_ORDINARY = 1 << 16
_EXACT = 1 << 53  # float64 has each integer up to it
_WIDE = (DataType.INT32, DataType.INT64)
_CUT_OFF = frozenset({"BitShift"})  # whose results lose the bits beyond the type in a network, too
_OF_NARROW = frozenset({"ConvInteger", "MatMulInteger"})  # which give INT32 of 8 bits


def _ordinary(kind: DataType) -> IntegerRange | None:
    """The integers of a type that an input is taken to have."""
    whole = whole_range(kind)
    return whole and IntegerRange(kind, max(whole.low, -_ORDINARY), min(whole.high, _ORDINARY))


def check_narrow_integers(model: Model) -> None:
    """Refuse differences of unsigned integers that may be negative; warn of sums that may wrap.

    Raises:
        ModelError: it names the node.
    """
    graph, draft = model.graph, Draft(model)
    known = {entry.name: _ordinary(entry.elem_type) for entry in graph.inputs}
    for tensor in graph.initializer:
        each = whole_range(tensor.data_type) if tensor.size else None
        values = tensor.values
        known[tensor.name] = each and IntegerRange(each.kind, int(values.min()), int(values.max()))
    computed = {entry.name for entry in graph.inputs}
    wrapping, rounded = [], []
    for node in graph.node:
        if computed.isdisjoint(node.input) or gives_sizes(node):
            continue
        computed.update(node.output)
        found = _result(node, [known.get(name) for name in node.input], draft)
        whole = found and whole_range(found.kind)
        if found and whole and not found.is_within(whole):
            if _wraps(node, found, whole):
                _refuse(node, found)
            if node.op_type not in _CUT_OFF:
                wrapping.append(node)
            found = _ordinary(found.kind)
        elif found and max(-found.low, found.high) > _EXACT:
            rounded.append(node)
        types = operator_types(node.op_type, node.domain)
        _, alike = types.alike(node)  # an index is of another type
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


def _wraps(node: Node, found: IntegerRange, whole: IntegerRange) -> bool:
    """Whether results begin anew for ordinary inputs: negative ones of no sign, or all of them."""
    below = node.op_type == "Sub" and found.low < whole.low == 0
    return below or found.low > whole.high or found.high < whole.low


def _refuse(node: Node, found: IntegerRange) -> None:
    raise ModelError(
        f"node {node.label}: a result of {found.low} to {found.high} is none of {found.kind.name}, "
        "and begins anew at the other end of the type, which neurons do not do",
        where="graph.node",
        hint="Cast its inputs to INT64 or FLOAT before it",
    )


def _result(node: Node, given: list[IntegerRange | None], draft: Draft) -> IntegerRange | None:
    """The integers that a node gives, before they begin anew; None of other types."""
    if node.op_type in ("Cast", "CastLike", "QuantizeLinear"):
        return _converted(node, given)
    if node.op_type in _OF_NARROW:
        sums = sum_of_products(node, given, draft)
        return sums and sums._replace(kind=DataType.INT32)
    types = operator_types(node.op_type, node.domain)
    if types.outputs[:1] == (TRUTH,):
        return whole_range(DataType.BOOL)
    alike = given if node.op_type == "Pow" else [*compress(given, types.alike(node)[0])]
    ranges = [each for each in alike if each]
    if not alike or not alike[0] or not ranges:
        return _ordinary(ranges[0].kind) if ranges else None
    found = computed_range(node, ranges, draft) if len(ranges) == len(alike) else None
    return found or _ordinary(ranges[0].kind)


def _converted(node: Node, given: list[IntegerRange | None]) -> IntegerRange | None:
    """The integers of the type that a node converts to: the same as before."""
    if node.op_type == "Cast":
        whole = whole_range(DataType(node.given_attributes["to"]))
        return _held(whole, given[0]) if whole else None
    like = given[_ZERO_POINT if node.op_type == "QuantizeLinear" else 1 :]
    return _ordinary(like[0].kind) if like and like[0] else None


def _held(whole: IntegerRange, given: IntegerRange | None) -> IntegerRange | None:
    """Integers in another type, which may not hold them; ordinary ones of floats.

    Truth values are 0 or 1 of all, and other types are imported only where they hold all.
    """
    if given is not None and (given.is_within(whole) or whole.kind in _WIDE):
        return given._replace(kind=whole.kind)
    return _ordinary(whole.kind)
