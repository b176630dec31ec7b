"""CumSum: a product by a triangle of ones."""

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.axis_products import axis_products
from neat_onnx.short_form.groups.search import Found, Search

_MIN_ELEMENTS = 3  # that are accumulated


def find_running_sum(search: Search, sums: Node) -> Found | None:
    """The running sums of a row, or of channels."""
    weights = _of_channels(search, sums) if is_one_of(sums, "Conv") else search.matrix(sums)
    return _accumulated(search, sums.input[0], sums.output[0], weights, 1)


def find_running_sum_along_axis(search: Search, last: Node) -> Found | None:
    """The running sums along one of the last two axes."""
    end, products = last.output[0], axis_products(search, last)
    if len(products.matrices) != 1 or products.sizes != search.draft.axes(end):
        return None
    ((axis, weights),) = products.matrices.items()
    found = _accumulated(search, products.source, end, weights, 1 + len(products.sizes) + axis)
    return None if found is None else (end, [*products.nodes, *found[1]])


def _accumulated(
    search: Search, source: str, end: str, weights: np.ndarray | None, axis: int
) -> Found | None:
    """The running sums of a tensor, whose product by these weights they are."""
    if weights is None or len(weights) < _MIN_ELEMENTS:
        return None
    if not np.array_equal(weights, np.tri(*weights.shape)):
        return None
    reads = [source, search.draft.constant("axis", axis)]
    return end, [search.draft.node("CumSum", reads, [end])]


def _of_channels(search: Search, node: Node) -> np.ndarray | None:
    """The constant by whose rows a Conv of one tap without bias multiplies channels."""
    kernel, *biases = (search.constant(name) for name in node.input[1:])
    if kernel is None or any(each is None or each.values.any() for each in biases):
        return None
    given = node.given_attributes
    moved = any(given.get("pads", ())) or any(step > 1 for step in given.get("strides", ()))
    if moved or given.get("group", 1) != 1 or any(size > 1 for size in kernel.dims[2:]):
        return None
    return np.asarray(kernel.values).reshape(kernel.dims[:2])
