"""ReduceSum: a product by ones and zeros that adds the elements along some axes."""

from neat_onnx.model import Node
from neat_onnx.passes.short_form.larger_operators.linear_nodes import most_terms
from neat_onnx.passes.short_form.larger_operators.reductions import along_axes
from neat_onnx.passes.short_form.larger_operators.search import Found, Search


def reduced_sum(search: Search, product: Node) -> Found | None:
    """The sums of a tensor along axes, each element in one of them."""
    end, reader = product.output[0], search.sums
    sums = reader.of(end) if most_terms(search, product) > 1 else None
    terms = reader.terms(sums) if sums is not None and sums.are_even else []
    return along_axes(search, "ReduceSum", terms[0], end) if len(terms) == 1 else None
