"""Where of tensors that are broadcast, as scores of attention are masked by the steps there are.

Export writes a choice element by element, as a sum of two products, each with its own copies and
order of elements. Here they are followed back to the tensors that they come from.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.short_form.columns import places_of
from neat_onnx.passes.short_form.larger_operators.choices import (
    Truth,
    first_condition,
    outcome,
    truth_of,
)
from neat_onnx.passes.short_form.larger_operators.search import Found, Ints, Search, Sizes

_FEWEST = 16  # elements


class _Side(NamedTuple):
    """A tensor, or a number, that is chosen if a condition holds, or if not.

    Attributes:
        truth: the number by the condition.
        at: for each element, the place of its condition.
        value: a tensor, or a number.
        places: for each element, its place in that tensor.
    """

    truth: Truth
    at: Ints
    value: str
    places: Ints


def choice_of_axes(search: Search, node: Node) -> Found | None:
    """The choice between a tensor and a number, or two tensors, by a condition with fewer axes."""
    end, count = node.output[0], _count(search.draft.axes(node.output[0]))
    if count < _FEWEST:
        return None
    sides = [side for name in node.input if (side := _side(search, name, count)) is not None]
    if len(sides) != len(node.input):
        return None
    first = first_condition(search, *(side.truth for side in sides))
    if first is None or not np.array_equal(sides[0].at, sides[1].at):
        return None
    sides.sort(key=lambda side: side.truth.holds is not first.holds)
    operands = [(first.condition, sides[0].at), *((side.value, side.places) for side in sides)]
    tries = [search.axes_after(end), *(search.draft.axes(side.value) or () for side in sides)]
    for axes in (each for each in tries if prod(each) == count):
        parts = [_in_axes(search, name, places, axes) for name, places in operands]
        found = [part for part in parts if part is not None]
        if len(found) == len(parts):
            chosen = search.draft.name("chosen")
            by, condition = outcome(search, first, found[0][1])
            reads = [condition, *(name for _, name in found[1:])]
            nodes = [*(each for before, _ in found for each in before), *by]
            where = search.node("Where", reads, [chosen])
            return end, [*nodes, where, search.shaped(chosen, end)]
    return None


def _side(search: Search, name: str, size: int) -> _Side | None:
    """A product by a condition, whose elements were moved."""
    product, order = _origin(search, name)
    made, count = search.made.get(search.copied(product)), _count(search.draft.axes(product))
    if made is None or not is_one_of(made, "Mul") or len(order) != size:
        return None
    for cast, value in (made.input, made.input[::-1]):
        origin, at = _origin(search, cast)
        truth = truth_of(search, search.copied(origin))
        if truth is None or len(at) != count:
            continue
        if search.is_number(value):
            return _Side(truth, at[order], value, order)
        source, places = _origin(search, value)
        return _Side(truth, at[order], source, places[order]) if len(places) == count else None
    return None


def _count(sizes: Sizes | None) -> int:
    """The number of elements; 0 if it is not known."""
    return 0 if sizes is None else prod(sizes)


def _origin(search: Search, name: str) -> tuple[str, Ints]:
    """The tensor that the elements of one were moved from, and their places in it.

    It may be an Identity of another: the name of its own is that of its neurons.
    """
    order: Ints = np.arange(_count(search.draft.axes(name)))
    while (node := search.made.get(search.copied(name))) is not None and node.input:
        places = places_of(search.draft, node)
        if places is None:
            break
        name, order = node.input[0], places[order]
    return name, order


def _in_axes(search: Search, name: str, places: Ints, axes: Sizes) -> tuple[list[Node], str] | None:
    """The tensor that has these elements where it is broadcast to axes; a number as it is."""
    if search.is_number(name):
        tensor = search.draft.tensors[name]
        return [], search.draft.constant("number", tensor.values.reshape(()), tensor.data_type)
    table = places.reshape(axes)
    for axis in range(len(axes)):
        once = table.max(axis, keepdims=True)
        table = once if np.all(table == once) else table
    size = _count(search.draft.axes(name))
    if not np.array_equal(table.ravel(), np.arange(size)):
        return None
    return search.in_shape(name, table.shape)
