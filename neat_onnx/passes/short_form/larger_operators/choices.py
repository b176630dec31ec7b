"""Where: a sum of two products, one by a condition and the other by its opposite."""

from collections.abc import Sequence

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.short_form.larger_operators.search import Found, Search

_CONDITIONS = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "And", "Or", "Xor")
_SIDES = 2  # of a choice


def choice(search: Search, node: Node) -> Found | None:
    """The choice between two tensors, element by element."""
    sides = [_side(search, factors) for factors in _products(search, node)]
    if len(sides) != _SIDES or None in sides:
        return None
    chosen = {holds: (condition, name) for condition, holds, name in filter(None, sides)}
    condition = _same(search, *(name for name, _ in chosen.values()))
    if condition is None:
        return None
    reads = [condition, *(_alone(search, chosen[holds][1]) for holds in (True, False))]
    return node.output[0], [search.node("Where", reads, node.output)]


def _alone(search: Search, name: str) -> str:
    """A tensor, or the number that it holds alone."""
    if not search.is_number(name):
        return name
    tensor = search.draft.tensors[name]
    return search.draft.constant("number", tensor.values.reshape(()), tensor.data_type)


def _same(search: Search, *conditions: str) -> str | None:
    """The one condition that two are, the one of them that reads no copy; None of others."""
    makers = {name: search.made[name] for name in conditions}
    reads = {name: [*map(search.unchanged, maker.input)] for name, maker in makers.items()}
    alike = {(makers[name].op_type, *reads[name]) for name in conditions}
    if len(conditions) != _SIDES or len(alike) > 1:
        return None
    return max(conditions, key=lambda name: makers[name].input == reads[name])


def _products(search: Search, node: Node) -> list[Sequence[str]]:
    """The factors of the products that are added by a node: an Add, a Gemm of ones side by side,
    or a ReduceSum of tensors side by side.
    """
    if is_one_of(node, "Add"):
        return [_factors(search, name) for name in node.input]
    if is_one_of(node, "ReduceSum"):
        joined = [search.made.get(name) for name in _factors(search, node.input[0])]
        sides = [each.input for each in joined if each and is_one_of(each, "Concat")]
        return [*zip(*sides, strict=False)] if len(sides) == _SIDES else []
    weights, both = search.matrix(node), search.made.get(node.input[0])
    if weights is None or both is None or not is_one_of(both, "Concat"):
        return []
    ones = np.hstack([np.eye(len(weights))] * _SIDES)
    is_sum = np.array_equal(weights, ones)
    return [_factors(search, name) for name in both.input] if is_sum else []


def _factors(search: Search, name: str) -> Sequence[str]:
    """The factors of a product, whatever its shape; none of another tensor."""
    way = (node for node in search.before(name) if not search.moves(node))
    product = next(way, None)
    return product.input if product is not None and is_one_of(product, "Mul") else ()


def _side(search: Search, factors: Sequence[str]) -> tuple[str, bool, str] | None:
    """The condition of a product, whether it has to hold, and the other factor."""
    for cast, other in (factors, factors[::-1]) if factors else ():
        made = search.made.get(cast)
        if made is not None and is_one_of(made, "Cast"):
            condition = search.made.get(made.input[0])
            if condition is not None and is_one_of(condition, "Not"):
                return condition.input[0], False, other
            if condition is not None and is_one_of(condition, *_CONDITIONS):
                return made.input[0], True, other
    return None
