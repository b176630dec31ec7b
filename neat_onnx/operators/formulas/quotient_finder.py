"""Div: products by reciprocals, each of which may stand beside several elements."""

from itertools import islice
from math import prod

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.elementwise import is_function_of_one
from neat_onnx.short_form.groups.search import Found, Search, Sizes

_MAX_NODES_BACK = 6  # from a product to reciprocals


def find_quotient(search: Search, product: Node) -> Found | None:
    """The elements of a tensor by others that are broadcast to its axes."""
    for whole, share in (product.input, product.input[::-1]):
        near = islice(search.before(share), _MAX_NODES_BACK)
        if any(is_one_of(node, "Reciprocal") for node in near):
            found = _divided(search, search.unchanged(whole), share, product.output[0])
            if found is not None:
                return found
    return None


def _divided(search: Search, whole: str, share: str, end: str) -> Found | None:
    """The elements of a tensor by those whose reciprocals another one has."""
    reader = search.sums
    shares = reader.of(share)
    if shares is None or not shares.are_elements:
        return None
    own, axes = search.draft.axes(share) or (), search.draft.axes(end) or ()
    tries: list[tuple[list[Node], str, Sizes]] = [([], whole, own)]
    if len(axes) == 1 and search.draft.axes(whole) == axes:
        after = search.axes_after(end)
        tries += [search.axes_before(whole), (*search.in_shape(whole, after), after)]
    for nodes, source, sizes in tries:
        found = reader.broadcast(shares.columns, sizes) if prod(sizes) == prod(own) else None
        inverse = None if found is None else search.made.get(found[0])
        if found is None or inverse is None or not _is_inverse(search, inverse):
            continue
        more, divisor = search.in_shape(search.unchanged(inverse.input[0]), found[1])
        if sizes == own:
            return end, [*nodes, *more, search.draft.node("Div", [source, divisor], [end])]
        result = search.draft.name(end)
        division = search.draft.node("Div", [source, divisor], [result])
        return end, [*nodes, *more, division, search.shaped(result, end)]
    return None


def _is_inverse(search: Search, node: Node) -> bool:
    """Whether a node has the reciprocals of neurons, not of a function that is theirs as well."""
    inside = search.made.get(node.input[0])
    function = inside is not None and is_function_of_one(inside)
    alone = search.draft.sole_reader(node.input[0]) is not None
    return is_one_of(node, "Reciprocal") and not (function and alone)
