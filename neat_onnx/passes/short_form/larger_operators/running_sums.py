"""CumSum: a product by a triangle of ones."""

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.short_form.larger_operators.search import Found, Search

_FEWEST = 3  # elements that are accumulated


def running_sum(search: Search, sums: Node) -> Found | None:
    """The running sums of a row."""
    weights = search.matrix(sums)
    if weights is None or len(weights) < _FEWEST:
        return None
    if not np.array_equal(weights, np.tri(*weights.shape)):
        return None
    reads = [sums.input[0], search.draft.constant("axis", [1])]
    return sums.output[0], [search.node("CumSum", reads, sums.output)]
