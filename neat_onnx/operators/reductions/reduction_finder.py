"""Reductions along axes that a tensor has, in place of those along axes that it was given for one.

Export gives the inputs of neurons that reduce an axis of their own. Each element of a tensor on the
way from the first one on is a group of elements of that one; where the last groups are the elements
along some of its axes, it can be reduced along these.
"""

from collections.abc import Iterator
from itertools import combinations
from math import prod

import numpy as np

from neat_onnx.model import Node
from neat_onnx.operators.reductions.steps import in_steps
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.columns import REDUCTIONS, places_of, reduced_axes
from neat_onnx.short_form.groups.linear_nodes import Terms
from neat_onnx.short_form.groups.search import Found, Ints, Search, Sizes


def find_reduction(search: Search, last: Node) -> Found | None:
    """The reduction of the first tensor that has the groups along axes."""
    end, way = last.output[0], way_to(search, last)
    sizes = search.draft.axes(end)
    if not way or sizes is None:
        return None
    (reduced,) = [node for node in way if is_one_of(node, *REDUCTIONS)]
    for nodes, source, whole, passed in _sources(search, way, reduced):
        groups = groups_of(search, whole, passed)
        axes = None if groups is None else _axes(whole, groups)
        if axes is not None and (kept := _keeps(whole, axes, sizes)) is not None:
            along = [axis + 1 for axis in axes]
            node = search.reduced(reduced.op_type, source, along, end, keepdims=kept)
            return end, [*nodes, node]
        if groups is None or not any(is_one_of(node, "Gather") for node in passed):
            continue
        if found := in_steps(search, reduced.op_type, source, groups, end):
            return found[0], [*nodes, *found[1]]
    return None


def _sources(
    search: Search, way: list[Node], reduced: Node
) -> Iterator[tuple[list[Node], str, Sizes, list[Node]]]:
    """Yield the tensors that may be reduced: the nodes that make one of its own axes, its name,
    its sizes, and the nodes from it on.
    """
    nodes, source, whole = search.axes_before(way[-1].input[0])
    if source != way[-1].input[0]:
        yield nodes, source, whole, way[::-1]
    fewest = way.index(reduced) + (len(way) > 1 and way[0] is reduced)
    for count in range(len(way), max(fewest, 1), -1):
        source, is_copy = way[count - 1].input[0], is_one_of(way[count - 1], "Identity")
        inside = search.draft.axes(source)
        if not is_copy and inside is not None:
            yield [], source, inside, way[:count][::-1]


def way_to(search: Search, last: Node) -> list[Node]:
    """The nodes from the last one back that move elements, one reduction among them; else none."""
    found: list[Node] = []
    reductions = 0
    for node in search.before(last.output[0]):
        is_reduction = is_one_of(node, *REDUCTIONS)
        if reductions + is_reduction > 1 or not (is_reduction or _hands_on(search, node)):
            break
        reductions += is_reduction
        found.append(node)
    return found if reductions else []


def _hands_on(search: Search, node: Node) -> bool:
    """Whether all elements of the result are elements of the input."""
    return search.moves(node) or search.gathered(node) is not None


def groups_of(search: Search, sizes: Sizes, nodes: list[Node]) -> Ints | None:
    """By the elements of the last result, the places of those that each is made of, in a tensor of
    these sizes.
    """
    groups: Ints | None = np.arange(prod(sizes)).reshape(*sizes, 1)
    for node in nodes:
        groups = None if groups is None else _after(search, node, groups)
    return None if groups is None else np.sort(groups.reshape(-1, groups.shape[-1]), axis=1)


def _after(search: Search, node: Node, groups: Ints) -> Ints | None:
    """The groups of the result of a node, by the groups of its input."""
    if is_one_of(node, "Identity", "Reshape", "Flatten"):
        return groups
    if not is_one_of(node, *REDUCTIONS):
        places = places_of(search.draft, node)
        return None if places is None else groups.reshape(-1, groups.shape[-1])[places]
    inside, axes = search.draft.axes(node.input[0]), reduced_axes(search.draft, node)
    if inside is None or axes is None:
        return None
    groups = groups.reshape(*inside, groups.shape[-1])
    last = range(-1 - len(axes), -1)
    groups = np.moveaxis(groups, [axis - 1 for axis in axes], last)
    return groups.reshape(-1, prod(groups.shape[last[0] :]))


def along_axes(
    search: Search, operator: str, terms: Terms, end: str, *, as_is: bool = False
) -> Found | None:
    """The reduction of a tensor along axes, where groups of terms are the elements along these.

    Args:
        search: the graph.
        operator: of the reduction.
        terms: as many of each element of the result.
        end: the result.
        as_is: the tensor is rather reduced in the axes that it has than in those it had.
    """
    groups, sizes = terms.places.reshape(1 + int(terms.rows.max()), -1), search.draft.axes(end)
    own = list[Node](), terms.tensor, search.draft.axes(terms.tensor) or ()
    tries = own, search.axes_before(terms.tensor)
    for nodes, source, whole in tries if as_is else tries[::-1]:
        axes = _axes(whole, groups)
        if axes is None:
            continue
        kept, along = _keeps(whole, axes, sizes or ()), [axis + 1 for axis in axes]
        result = end if kept is not None else search.draft.name(end)
        keeps = len(groups) == 1 if kept is None else kept
        reduced = search.reduced(operator, source, along, result, keepdims=keeps)
        last = [] if kept is not None else [search.shaped(result, end)]
        return end, [*nodes, reduced, *last]
    return None


def _axes(sizes: Sizes, groups: Ints) -> Sizes | None:
    """The axes of a tensor, behind the batch, along which these are its groups."""
    places = np.arange(prod(sizes)).reshape(sizes)
    for count in range(1, len(sizes) + 1):
        for axes in combinations(range(len(sizes)), count):
            if prod(sizes[axis] for axis in axes) == groups.shape[1]:
                along = np.moveaxis(places, axes, range(-count, 0)).reshape(-1, groups.shape[1])
                if np.array_equal(along, groups):
                    return axes
    return None


def _keeps(whole: Sizes, axes: Sizes, sizes: Sizes) -> bool | None:
    """Whether reduced axes stay with the length 1; None if the sizes fit neither."""
    if tuple(1 if axis in axes else size for axis, size in enumerate(whole)) == sizes:
        return True
    left = tuple(size for axis, size in enumerate(whole) if axis not in axes)
    return False if left == sizes else None
