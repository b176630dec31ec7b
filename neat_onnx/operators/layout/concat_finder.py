"""Branches that were joined: elements of one tensor alone, picked out of a Concat or by a list.

Export computes all neurons of a level at once, as the scaled queries and keys of attention, and
hands each reader the part that it reads. Where the part is one tensor with its axes in some order,
times one number, the branch is computed by itself.
"""

from dataclasses import dataclass
from itertools import permutations
from math import prod

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.columns import places_of
from neat_onnx.short_form.groups.search import Found, Ints, Search, Sizes

_MAX_AXES = 4  # that are tried in all orders


@dataclass
class _Part:
    """Elements of a tensor in some order, times one number.

    Attributes:
        tensor: its name.
        places: of the elements in it.
        factor: the number.
        joined: whether they stood in a Concat.
        listed: whether they were gathered by a list.
    """

    tensor: str
    places: Ints
    factor: float = 1.0
    joined: bool = False
    listed: bool = False


def find_branch(search: Search, shape: Node) -> Found | None:
    """A tensor in another order and shape, times a number, for a part of a Concat or a list."""
    end, sizes = shape.output[0], search.draft.axes(shape.output[0])
    if sizes is None:
        return None
    part = _Part(end, np.arange(prod(sizes)))
    while (node := search.made.get(part.tensor)) is not None and _goes_on(search, part, node):
        pass
    own = list[Node](), part.tensor, search.draft.axes(part.tensor) or ()
    tries = (own, search.axes_before(part.tensor)) if part.joined or part.listed else ()
    for before, name, whole in tries:
        if (order := _order(whole, part.places)) is not None:
            turned = tuple(whole[axis] for axis in order)
            return end, [*before, *search.chained(name, _nodes(search, order, turned, part, end))]
    return None


def _nodes(search: Search, order: Sizes, turned: Sizes, part: _Part, end: str) -> list[Node]:
    """The nodes, one after the other, that give a tensor its order and axes, and multiply it."""
    nodes, sizes = list[Node](), search.draft.axes(end) or ()
    if [*order] != sorted(order):
        nodes.append(search.draft.node("Transpose", [""], [end], perm=[0, *(k + 1 for k in order)]))
    if turned != sizes:
        reads = ["", search.draft.constant("shape", [0, *sizes])]
        nodes.append(search.draft.node("Reshape", reads, [end]))
    if part.factor != 1.0 or not nodes:
        factor = search.draft.constant("factor", [part.factor], search.kind(end))
        nodes.append(search.draft.node("Mul", ["", factor], [end]))
    return nodes


def _goes_on(search: Search, part: _Part, node: Node) -> bool:
    """Turn a part of the output of a node into one of its input, if it is that."""
    if is_one_of(node, "Concat"):
        return not part.joined and _cut(search, part, node)
    if is_one_of(node, "Mul") and (number := search.number(node.input[1])) is not None:
        part.factor *= number
    elif (taken := places_of(search.draft, node)) is not None:
        part.places = taken[part.places]
        part.listed |= is_one_of(node, "Gather")
    elif is_one_of(node, "Gemm") and (copies := search.copies(node)) is not None:
        part.places, part.factor = copies[0][part.places], part.factor * copies[1]
    elif not is_one_of(node, "Identity"):
        return False
    part.tensor = node.input[0]
    return True


def _cut(search: Search, part: _Part, node: Node) -> bool:
    """Follow a part into the one input of a Concat that it is of; whether there is one."""
    sizes = [search.draft.axes(name) for name in node.input]
    if node.given_attributes.get("axis") != 1 or any(len(each or ()) != 1 for each in sizes):
        return False
    stops = np.cumsum([prod(each or ()) for each in sizes])
    (at, *others) = np.unique(np.searchsorted(stops, part.places, side="right"))
    if others:
        return False
    part.tensor, part.joined = node.input[at], True
    part.places = part.places - (stops[at - 1] if at else 0)
    return True


def _order(sizes: Sizes, places: Ints) -> Sizes | None:
    """The order of the axes of a tensor in which its elements stand as these places say."""
    whole = np.arange(prod(sizes)).reshape(sizes)
    if len(sizes) > _MAX_AXES or places.size != whole.size:
        return None
    orders = permutations(range(len(sizes)))
    return next(
        (each for each in orders if np.array_equal(whole.transpose(each).ravel(), places)), None
    )
