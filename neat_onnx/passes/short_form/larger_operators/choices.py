"""Where: a sum of two products, one by a condition and the other by its opposite."""

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.short_form.larger_operators.search import Found, Search

_CONDITIONS = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "And", "Or", "Xor")
_SIDES = 2  # of a choice


def choice(search: Search, node: Node) -> Found | None:
    """The choice between two tensors, element by element."""
    sides = [_side(search, name) for name in _terms(search, node)]
    if len(sides) != _SIDES or None in sides:
        return None
    chosen = {holds: (condition, name) for condition, holds, name in filter(None, sides)}
    if len(chosen) != _SIDES or not _is_same(search, chosen[True][0], chosen[False][0]):
        return None
    reads = [chosen[True][0], *(_alone(search, chosen[holds][1]) for holds in (True, False))]
    return node.output[0], [search.node("Where", reads, node.output)]


def _alone(search: Search, name: str) -> str:
    """A tensor, or the number that it holds alone."""
    if not search.is_number(name):
        return name
    tensor = search.draft.tensors[name]
    return search.draft.constant("number", tensor.values.reshape(()), tensor.data_type)


def _is_same(search: Search, one: str, other: str) -> bool:
    """Whether two conditions are one."""
    makers = [search.made[name] for name in (one, other)]
    return len({(maker.op_type, *maker.input) for maker in makers}) == 1


def _terms(search: Search, node: Node) -> list[str]:
    """The tensors that are added by a node, an Add or a Gemm of ones side by side."""
    if is_one_of(node, "Add"):
        return node.input
    weights, joined = search.matrix(node), search.made.get(node.input[0])
    if weights is None or joined is None or not is_one_of(joined, "Concat"):
        return []
    both = np.hstack([np.eye(len(weights))] * _SIDES)
    return joined.input if np.array_equal(weights, both) else []


def _side(search: Search, name: str) -> tuple[str, bool, str] | None:
    """The condition of a product, whether it has to hold, and the other factor."""
    way = (node for node in search.before(name) if not is_one_of(node, "Identity"))
    product = next(way, None)
    if product is None or not is_one_of(product, "Mul"):
        return None
    for cast, other in (product.input, product.input[::-1]):
        made = search.made.get(cast)
        if made is not None and is_one_of(made, "Cast"):
            condition = search.made.get(made.input[0])
            if condition is not None and is_one_of(condition, "Not"):
                return condition.input[0], False, other
            if condition is not None and is_one_of(condition, *_CONDITIONS):
                return made.input[0], True, other
    return None
