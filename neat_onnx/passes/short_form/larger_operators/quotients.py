"""Div: a product by a reciprocal that stands beside each element of a row."""

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.short_form.larger_operators.search import Found, Search


def quotient(search: Search, product: Node) -> Found | None:
    """The elements of a row by one value."""
    for whole, share in (product.input, product.input[::-1]):
        way = (node for node in search.before(share) if not _repeats(search, node))
        inverse = next(way, None)
        if inverse is not None and is_one_of(inverse, "Reciprocal"):
            reads = [search.unchanged(name) for name in (whole, inverse.input[0])]
            return product.output[0], [search.node("Div", reads, product.output)]
    return None


def _repeats(search: Search, node: Node) -> bool:
    """Whether a node copies its input, or the first column of it."""
    places = search.draft.tensors.get(node.input[1]) if is_one_of(node, "Gather") else None
    return is_one_of(node, "Identity") or (places is not None and not places.values.any())
