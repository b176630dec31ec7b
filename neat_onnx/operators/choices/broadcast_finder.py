"""Where of tensors that are broadcast, as scores of attention are masked by the steps there are.

Export writes a choice element by element, as a sum of two products, each with its own copies and
order of elements. Here they are followed back to the tensors that they come from.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from neat_onnx.model import Node
from neat_onnx.operators.choices.where_finder import (
    Factor,
    Truth,
    condition_of,
    given_number,
    truth_of,
    weighed,
)
from neat_onnx.short_form.columns import unrepeated_places
from neat_onnx.short_form.groups.search import Found, Ints, Search, Sizes

_MIN_ELEMENTS = 16


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


def find_broadcast_where(search: Search, node: Node) -> Found | None:
    """The choice between a tensor and a number, or two tensors, by a condition with fewer axes."""
    end, count = node.output[0], search.size(node.output[0])
    sides = _sides(search, node, count) if count >= _MIN_ELEMENTS else []
    if len(sides) != len(node.input) or not np.array_equal(sides[0].at, sides[1].at):
        return None
    tries = [search.axes_after(end), *(search.draft.axes(side.value) or () for side in sides)]
    for axes in (each for each in tries if prod(each) == count):
        found = _added(search, sides, axes) or _chosen(search, sides, axes)
        if found is not None:
            nodes, chosen = found
            return end, [*nodes, search.shaped(chosen, end)]
    return None


def _sides(search: Search, node: Node, size: int) -> list[_Side]:
    """The sides of a choice, as far as they are known; first the one whose condition holds."""
    found = [_side(search, name, size) for name in node.input]
    for name, other in zip(node.input, found[::-1], strict=True):
        given = None if other is None or None not in found else given_number(search, other.truth)
        if given is not None:
            found.append(_side(search, name, size, given))
    return sorted(filter(None, found), key=lambda side: not side.truth.holds)


def _chosen(search: Search, sides: list[_Side], axes: Sizes) -> tuple[list[Node], str] | None:
    """The nodes of a choice in axes, and its name."""
    condition = condition_of(search, *(side.truth for side in sides))
    if condition is None:
        return None
    operands = [(condition, sides[0].at), *((side.value, side.places) for side in sides)]
    parts = [_in_axes(search, name, places, axes) for name, places in operands]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    chosen = search.draft.name("chosen")
    nodes = [each for before, _ in found for each in before]
    return [*nodes, search.draft.node("Where", [name for _, name in found], [chosen])], chosen


def _added(search: Search, sides: list[_Side], axes: Sizes) -> tuple[list[Node], str] | None:
    """The nodes of the sum that a choice by a given number is in axes, and its name."""
    if truth_of(search, search.copied(sides[0].truth.name)) is not None:
        return None
    nodes, names = list[Node](), list[str]()
    for side in sides:
        by = _in_axes(search, side.truth.name, side.at, axes)
        value = _in_axes(search, side.value, side.places, axes)
        if by is None or value is None:
            return None
        names.append(search.draft.name("side"))
        factor = Factor(by[1], unrepeated_places(side.at.reshape(axes)).shape)
        nodes += [*by[0], *value[0], *weighed(search, factor, value[1], axes, names[-1])]
    chosen = search.draft.name("chosen")
    return [*nodes, search.draft.node("Add", names, [chosen])], chosen


def _side(search: Search, name: str, size: int, given: Truth | None = None) -> _Side | None:
    """A product by a condition, or by a given number, whose elements were moved."""
    product, order = search.origin(name)
    made = search.draft.maker(search.copied(product), "Mul")
    count = search.size(product)
    if made is None or len(order) != size:
        return None
    for cast, value in (made.input, made.input[::-1]):
        origin, at = search.origin(cast)
        is_given = given is not None and given.name == search.unchanged(origin)
        truth = given if is_given else truth_of(search, search.copied(origin))
        if truth is None or len(at) != count:
            continue
        if search.is_number(value):
            return _Side(truth, at[order], value, order)
        source, places = search.origin(value)
        return _Side(truth, at[order], source, places[order]) if len(places) == count else None
    return None


def _in_axes(search: Search, name: str, places: Ints, axes: Sizes) -> tuple[list[Node], str] | None:
    """The tensor that has these elements where it is broadcast to axes; a number as it is."""
    if search.is_number(name):
        tensor = search.draft.tensors[name]
        return [], search.draft.constant("number", tensor.values.reshape(()), tensor.data_type)
    table = unrepeated_places(places.reshape(axes))
    size = search.size(name)
    if not np.array_equal(table.ravel(), np.arange(size)):
        return None
    return search.in_shape(name, table.shape)
