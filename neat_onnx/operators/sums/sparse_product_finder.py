"""Products by a constant matrix of mostly zeros: elements are gathered, weighted and added.

Samples of a picture between its elements are such products, the same for each channel.
"""

import numpy as np

from neat_onnx.model import Node
from neat_onnx.short_form.groups.search import Found, Search

_MIN_NUMBERS_SAVED = 128


def find_sparse_product(search: Search, product: Node) -> Found | None:
    """The sums of the elements along the last axis for which a matrix has weights."""
    end = product.output[0]
    matrix, sizes = search.factor(product, 1), search.draft.axes(end)
    if matrix is None or not sizes:
        return None
    counts = np.count_nonzero(matrix, axis=0)
    count = max(int(counts.max(initial=0)), 1)
    if matrix.size - 2 * count * matrix.shape[1] < _MIN_NUMBERS_SAVED:
        return None
    places = np.sort(np.argsort(matrix == 0, axis=0, kind="stable")[:count].T, axis=1)
    weights = np.take_along_axis(matrix.T, places, axis=1)
    node, constant, kind = search.draft.node, search.draft.constant, search.kind(end)
    nodes = [node("Gather", ["", constant("at", places.ravel())], [end], axis=len(sizes))]
    if np.any(weights != 1.0):
        nodes.append(node("Mul", ["", constant("weights", weights.ravel(), kind)], [end]))
    if count == 1:
        nodes.append(node("Sum", [""], [end]))  # a neuron, not the element itself
    else:
        shape, axis = constant("shape", [0, *sizes, count]), constant("axis", [len(sizes) + 1])
        nodes.append(node("Reshape", ["", shape], [end]))
        nodes.append(node("ReduceSum", ["", axis], [end], keepdims=0))
    return end, search.chained(product.input[0], nodes)
