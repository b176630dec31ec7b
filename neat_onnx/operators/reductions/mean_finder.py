"""ReduceSum, ReduceMean: a product by ones and zeros that adds the elements along some axes, or
that divided by their number.
"""

import numpy as np

from neat_onnx.model import Node
from neat_onnx.operators.reductions.reduction_finder import along_axes
from neat_onnx.short_form.groups.linear_nodes import most_terms
from neat_onnx.short_form.groups.search import Found, Search


def find_reduced_sum(search: Search, product: Node) -> Found | None:
    """The sums of a tensor along axes, each element in one of them."""
    return _along_axes(search, "ReduceSum", product, product.output[0])


def find_mean(search: Search, division: Node) -> Found | None:
    """The means of a tensor along axes, each element in one of several.

    A single one stays a sum, whose number a product that follows may take back.
    """
    product = search.draft.maker(division.input[0], "Gemm")
    count = search.draft.tensors.get(division.input[1])
    if product is None or count is None:
        return None
    if count.size == 1 or not np.all(count.values == most_terms(search, product)):
        return None
    return _along_axes(search, "ReduceMean", product, division.output[0])


def _along_axes(search: Search, operator: str, product: Node, end: str) -> Found | None:
    """The reduction of a tensor whose elements a product adds."""
    reader = search.sums
    sums = reader.of(product.output[0]) if most_terms(search, product) > 1 else None
    terms = reader.terms(sums) if sums is not None and sums.are_even else []
    return along_axes(search, operator, terms[0], end) if len(terms) == 1 else None
