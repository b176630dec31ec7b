"""Slice and Pad: elements in a box of the axes of a tensor, or a box of elements around all.

Export gathers the elements by a list of places, and has a constant neuron for those around.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from neat_onnx.model import Node
from neat_onnx.short_form.groups.search import Found, Ints, Search, Sizes

_NO_ELEMENT = -1  # of the tensor: a constant is there
Mode = Literal["constant", "edge", "reflect", "wrap"]
"""The mode of a Pad: one number around, or elements of the tensor itself."""
_AROUND: tuple[Mode, ...] = ("edge", "reflect", "wrap")
_CONSTANT: Mode = "constant"
_WRAPS_SINCE = 19  # opset
Cut = tuple[int, int, int]
"""The start, the end and the step of a Slice along an axis."""


def find_slice(search: Search, gather: Node) -> Found | None:
    """The elements of a box, some or all along each axis, at even steps."""
    end = gather.output[0]
    name, places = search.origin(end)
    nodes, source, whole = search.axes_before(search.copied(name))
    if not len(places) or len(whole) < 2:
        return None
    along = [_in_order(each) for each in np.unravel_index(places, whole)]
    if not np.array_equal(_box(along, whole), places):
        return None
    cuts = {}
    for axis, (each, size) in enumerate(zip(along, whole, strict=True), 1):
        if not np.array_equal(each, range(size)):
            cuts[axis] = _cut(each, size)
    if not cuts or None in cuts.values():
        return None
    starts, ends, steps = (list(each) for each in zip(*filter(None, cuts.values()), strict=True))
    given = [starts, ends, [*cuts], *([steps] if {*steps} != {1} else [])]
    reads = [source, *(search.draft.constant("cut", each) for each in given)]
    part = search.draft.name("part")
    return end, [*nodes, search.draft.node("Slice", reads, [part]), search.shaped(part, end)]


def find_pad(search: Search, last: Node) -> Found | None:
    """All elements of a tensor, with one number or some of them around."""
    end = last.output[0]
    name, places = search.origin(end)
    name = search.copied(name)
    joined, sizes = search.draft.maker(name, "Concat"), search.axes_after(end)
    inside = _inside(search, [name] if joined is None else joined.input, places)
    if inside is None or math.prod(sizes) != len(places):
        return None
    flat, origin, number = inside
    nodes, source, whole = search.axes_before(flat)
    along = _coordinates(origin.reshape(sizes), whole) if len(whole) == len(sizes) > 1 else []
    modes = _AROUND[: 3 if search.draft.model.opset >= _WRAPS_SINCE else 2]
    for mode in modes if number is None else (_CONSTANT,):
        pads = [_pad(each, size, mode) for each, size in zip(along, whole, strict=False)]
        if pads and None not in pads and np.array_equal(_around(pads, whole, mode), origin):
            before, after = zip(*filter(None, pads), strict=True)
            if not any(before) and not any(after):
                return None
            reads = [source, search.draft.constant("pads", [0, *before, 0, *after])]
            if number:
                reads.append(search.draft.constant("number", number, search.kind(flat)))
            wide = search.draft.name("wide")
            return end, [
                *nodes,
                search.draft.node("Pad", reads, [wide], mode=mode),
                search.shaped(wide, end),
            ]
    return None


def _in_order(values: Ints) -> Ints:
    """Distinct values in the order in which they come first."""
    return values[np.sort(np.unique(values, return_index=True)[1])]


def _box(along: Sequence[Ints], whole: Sizes) -> Ints:
    """The places of the elements at these coordinates along each axis."""
    return np.asarray(np.ravel_multi_index(np.ix_(*along), whole)).ravel()


def _cut(along: Ints, size: int) -> Cut | None:
    """The bounds of coordinates at even steps; None of others."""
    steps = np.diff(along)
    step = int(steps[0]) if len(steps) else 1
    if np.any(steps != step):
        return None
    end = int(along[-1]) + (1 if step > 0 else -1)
    return int(along[0]), end if end >= 0 else -size - 1, step


def _inside(
    search: Search, parts: Sequence[str], places: Ints
) -> tuple[str, Ints, float | None] | None:
    """The one tensor that elements come from, their places in it, and the number of the others."""
    flat, origin, numbers, start = "", np.full(len(places), _NO_ELEMENT), set[float](), 0
    for part in parts:
        count, values = math.prod(search.draft.axes(part) or ()), search.constants_of(part)
        here = (places >= start) & (places < start + count)
        if values is not None:
            numbers |= {*values[places[here] - start].tolist()}
        elif flat:
            return None
        else:
            flat, origin = part, np.where(here, places - start, _NO_ELEMENT)
        start += count
    return (flat, origin, min(numbers, default=None)) if flat and len(numbers) < 2 else None


def _coordinates(origin: Ints, whole: Sizes) -> list[Ints]:
    """Along each axis, the coordinates of elements; one where there are none."""
    found = np.unravel_index(np.maximum(origin, 0), whole)
    inside = [np.where(origin == _NO_ELEMENT, _NO_ELEMENT, each) for each in found]
    axes = range(len(whole))
    return [
        each.max(axis=tuple(other for other in axes if other != axis))
        for axis, each in enumerate(inside)
    ]


def _pad(along: Ints, size: int, mode: Mode) -> tuple[int, int] | None:
    """How many coordinates are before and behind all of an axis."""
    more = len(along) - size
    tries = [(before, more - before) for before in range(more + 1)]
    return next((each for each in tries if np.array_equal(wide(size, each, mode), along)), None)


def wide(size: int, pads: tuple[int, int], mode: Mode) -> Ints:
    """The coordinates along an axis with some before and behind."""
    if mode == "constant":
        return np.pad(np.arange(size), pads, "constant", constant_values=_NO_ELEMENT)
    return np.pad(np.arange(size), pads, mode)


def _around(pads: Sequence[tuple[int, int] | None], whole: Sizes, mode: Mode) -> Ints:
    """The places of the elements of a Pad."""
    table: Ints = np.arange(math.prod(whole)).reshape(whole)
    for axis, each in enumerate(pads):
        along = wide(whole[axis], each or (0, 0), mode)
        table = np.where(
            np.expand_dims(along == _NO_ELEMENT, [*range(axis), *range(axis + 1, len(whole))]),
            _NO_ELEMENT,
            np.take(table, np.maximum(along, 0), axis),
        )
    return table.ravel()
