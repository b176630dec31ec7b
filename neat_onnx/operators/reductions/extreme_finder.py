"""ReduceMax and the like of rows whose elements a choice has in another order.

Export puts the sources of a neuron in their own order where that does not matter, as constant ones
first; where it does, the same elements are gathered again. One choice serves both.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from neat_onnx.model import Node
from neat_onnx.operators.choices.kept_finder import find_kept_elements
from neat_onnx.passes.draft import copied, is_one_of
from neat_onnx.short_form.columns import reduced_axes
from neat_onnx.short_form.groups.search import Found, Ints, Search

EXTREMES = ("ReduceMax", "ReduceMin")
"""Operators that the order of elements does not matter to."""


class _Gathered(NamedTuple):
    """Elements that were gathered of several tensors.

    Attributes:
        sources: the tensors, in the order of their names.
        elements: of them, one after the other.
    """

    sources: tuple[str, ...]
    elements: Ints


def find_extreme_of_rows(search: Search, last: Node) -> Found | None:
    """The extreme of each row of a choice, that may be made flat."""
    node = search.made.get(last.input[0]) if is_one_of(last, "Flatten") else last
    if node is None or not is_one_of(node, *EXTREMES):
        return None
    sizes, shape = search.draft.axes(node.input[0]), search.made.get(node.input[0])
    if not sizes or shape is None or reduced_axes(search.draft, node) != (len(sizes),):
        return None
    own = _gathered(search, shape.input[0]) if is_one_of(shape, "Reshape") else None
    others = (each for each in search.draft.model.graph.node if is_one_of(each, "Gather"))
    for other in others if own is not None else ():
        same = _has_rows(_gathered(search, other.output[0]), own, sizes[-1])
        if same and (choice := find_kept_elements(search, other)) is not None:
            return _extreme(search, choice[1], [shape, node, last])
    return None


def _has_rows(found: "_Gathered | None", own: "_Gathered | None", width: int) -> bool:
    """Whether two tensors have the same elements in each row, in any order."""
    if found is None or own is None or found.sources != own.sources:
        return False
    if found.elements.shape != own.elements.shape:
        return False
    one, other = (np.sort(each.elements.reshape(-1, width)) for each in (found, own))
    return np.array_equal(one, other)


def _extreme(search: Search, choice: list[Node], after: list[Node]) -> Found:
    """The nodes of a choice, and then others, each of the one before."""
    nodes, end = [*choice], after[-1].output[0]
    nodes[-1] = copied(choice[-1], output=[search.draft.name(choice[-1].output[0])])
    for node in after if after[-1] is not after[-2] else after[:-1]:
        name = end if node.output[0] == end else search.draft.name(node.output[0])
        reads = [nodes[-1].output[0], *node.input[1:]]
        nodes.append(copied(node, name="", input=reads, output=[name]))
    return end, nodes


def _gathered(search: Search, name: str) -> _Gathered | None:
    """The elements that a tensor is gathered of, of several others side by side."""
    node = search.made.get(name)
    places = None if node is None else search.columns(node)
    joined = None if node is None else search.draft.maker(node.input[0], "Concat")
    if joined is None or places is None:
        return None
    widths = [prod(search.draft.axes(each) or ()) for each in joined.input]
    order = sorted(range(len(widths)), key=lambda each: joined.input[each])
    starts = np.cumsum([0, *(widths[each] for each in order)])
    numbers: list[Ints] = [np.empty(0, np.int64)] * len(widths)
    for start, each in zip(starts, order, strict=False):
        numbers[each] = start + np.arange(widths[each])
    return _Gathered(tuple(sorted(joined.input)), np.concatenate(numbers)[places])
