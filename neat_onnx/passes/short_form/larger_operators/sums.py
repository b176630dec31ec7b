"""ReduceSum: a product by ones and zeros that adds the elements along some axes."""

from math import prod

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.short_form.larger_operators.search import Found, Search


def reduced_sum(search: Search, sums: Node) -> Found | None:
    """The sums of a tensor along axes, each element in one of them."""
    weights = search.matrix(sums)
    if weights is None or len(weights) == weights.shape[1] or not _is_one_each(weights):
        return None
    nodes, source, shape = search.in_axes(sums.input[0], weights.shape[1])
    place = weights.argmax(axis=0).reshape(shape)
    kept = [bool(np.any(np.diff(place, axis=axis))) for axis in range(place.ndim)]
    axes = [axis + 1 for axis, stays in enumerate(kept) if not stays]
    sizes = [size if stays else 1 for size, stays in zip(shape, kept, strict=True)]
    if not axes or prod(sizes) != len(weights):
        return None
    if not np.array_equal(place, np.broadcast_to(np.arange(prod(sizes)).reshape(sizes), shape)):
        return None
    flat = len(sizes) == 1 or sum(kept) == 1
    result = sums.output[0] if flat else search.draft.name(f"{sums.output[0]}_sum")
    nodes.append(search.reduced("ReduceSum", source, axes, result, keepdims=sum(kept) == 0))
    if not flat:
        nodes.append(search.node("Flatten", [result], sums.output))
    return sums.output[0], nodes


def _is_one_each(weights: np.ndarray) -> bool:
    """Whether each column has a single 1, and is 0 elsewhere."""
    ones = (weights == 1).sum(axis=0)
    return bool(np.all(ones == 1) and np.count_nonzero(weights) == weights.shape[1])
