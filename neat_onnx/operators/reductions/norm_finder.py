"""ReduceL2: roots of sums of squares along axes."""

from itertools import islice

from neat_onnx.model import Node
from neat_onnx.operators.reductions.reduction_finder import along_axes
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.linear_nodes import Terms
from neat_onnx.short_form.groups.power_sums import bases_of, roots_of
from neat_onnx.short_form.groups.search import Found, Search

_MAX_NODES_BACK = 4  # from the result to the roots


def find_norm(search: Search, last: Node) -> Found | None:
    """The norms of a tensor along some of its axes."""
    end, squares = last.output[0], _squares(search, last.output[0])
    return squares and along_axes(search, "ReduceL2", squares, end, as_is=True)


def _squares(search: Search, name: str) -> Terms | None:
    """The elements of which a tensor is roots of sums of squares, as many in each sum."""
    near = islice(search.before(name), _MAX_NODES_BACK)
    if not any(is_one_of(node, "Sqrt") for node in near):
        return None
    reader = search.sums
    roots = reader.of(name)
    found = bases_of(search, reader, roots, "Sqrt") if roots and roots.are_elements else None
    if found is None or not found[0].are_even:
        return None
    return roots_of(search, reader.terms(found[0]))
