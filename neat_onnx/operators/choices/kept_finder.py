"""Where and Trilu: elements of a tensor in their places, and a number or a tensor in all others.

Export lists the elements that stay, and has constant neurons for the number.
"""

from itertools import islice

from neat_onnx.model import Node
from neat_onnx.operators.choices.mixtures import Choice, parts
from neat_onnx.operators.choices.mixtures_in_axes import in_axes
from neat_onnx.operators.choices.mixtures_of_sums import mixture_of
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.search import Found, Search

_MAX_NODES_BACK = 12  # from the result to joined elements


def find_kept_elements(search: Search, last: Node) -> Found | None:
    """The choice by a constant mask, or by conditions, between tensors and numbers."""
    end, reader = last.output[0], search.sums
    near = islice(search.before(end), _MAX_NODES_BACK)
    joined = next((node for node in near if is_one_of(node, "Concat")), None)
    sums = None if joined is None else reader.of(end)
    found = None if sums is None else mixture_of(search, reader, sums)
    if (
        joined is None
        or found is None
        or not any(isinstance(each, Choice) for each in parts(found))
    ):
        return None
    copied = any(_is_copied(search, name) for name in joined.input)
    written = in_axes(search, found, search.kind(end), copied=copied)
    if written is None:
        return None
    nodes, name, _ = written
    return end, [*nodes, search.shaped(name, end)]


def _is_copied(search: Search, name: str) -> bool:
    """Whether the elements of a tensor are neurons that copy others."""
    node = search.computed_by(name)
    return node is not None and is_one_of(node, "Sum") and len(node.input) == 1
