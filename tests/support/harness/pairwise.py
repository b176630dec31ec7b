"""Choosing combinations so that every pair of values occurs together at least once."""

from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

Combination = tuple[Any, ...]


def pairwise(
    *factors: Sequence[Any], allowed: Callable[..., bool] = lambda *values: True
) -> list[Combination]:
    """Return combinations, one value of each factor, that cover every pair of allowed values.

    The choice is greedy and deterministic: whatever covers most pairs that are still missing, the
    first of equals. A pair that no allowed combination has is left out.

    Args:
        factors: the values of each factor; all values are hashable.
        allowed: whether a combination may be chosen.
    """
    candidates = [values for values in product(*factors) if allowed(*values)]
    missing = {pair for values in candidates for pair in _pairs(values)}
    chosen: list[Combination] = []
    most = len(factors) * (len(factors) - 1) // 2
    while missing:
        rest = []
        for values in candidates:
            new = len(missing.intersection(_pairs(values)))
            if new == most:
                missing.difference_update(_pairs(values))
                chosen.append(values)
            elif new:
                rest.append(values)
        candidates, most = rest, most - 1
    return chosen


def _pairs(values: Combination) -> list[tuple[tuple[int, Any], tuple[int, Any]]]:
    return list(combinations(enumerate(values), 2))
