"""Slice and Pad: elements in a box of the axes of a tensor, or a box of elements around all.

Export gathers the elements by a list of places, and has a constant neuron for those around.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.short_form.larger_operators.masks import constants_of, spread
from neat_onnx.passes.short_form.larger_operators.search import Found, Ints, Search, Sizes

_OUTSIDE = -1  # the place of a constant
Mode = Literal["constant", "edge", "reflect", "wrap"]
"""The mode of a Pad: one number around, or elements of the tensor itself."""
_AROUND: tuple[Mode, ...] = ("edge", "reflect", "wrap")
_CONSTANT: Mode = "constant"
_WRAPS_SINCE = 19  # opset
Cut = tuple[int, int, int]
"""The start, the end and the step of a Slice along an axis."""


def cut(search: Search, gather: Node) -> Found | None:
    """The elements of a box, some or all along each axis, at even steps."""
    places, flat = search.columns(gather), gather.input[0]
    if places is None or not len(places):
        return None
    nodes, source, whole = search.in_axes(flat, math.prod(search.sizes(flat) or ()))
    along = [_in_order(each) for each in np.unravel_index(places, whole)]
    if len(whole) == 1 or not np.array_equal(_box(along, whole), places):
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
    nodes += [
        search.node("Slice", reads, [part]),
        search.node("Flatten", [part], [*gather.output], axis=1),
    ]
    return gather.output[0], nodes


def padded(search: Search, shape: Node) -> Found | None:
    """All elements of a tensor, with one number or some of them around."""
    end, (parts, places) = shape.output[0], spread(search, shape.output[0])
    sizes, inside = search.sizes(end), _inside(search, parts, places)
    if sizes is None or inside is None or math.prod(sizes) != len(places):
        return None
    flat, origin, number = inside
    nodes, source, whole = search.in_axes(flat, math.prod(search.sizes(flat) or ()))
    along = _coordinates(origin.reshape(sizes), whole) if len(whole) == len(sizes) else []
    modes = _AROUND[: 3 if search.draft.model.opset >= _WRAPS_SINCE else 2]
    for mode in modes if number is None else (_CONSTANT,):
        pads = [_pad(each, size, mode) for each, size in zip(along, whole, strict=False)]
        if pads and None not in pads and np.array_equal(_around(pads, whole, mode), origin):
            before, after = zip(*filter(None, pads), strict=True)
            reads = [source, search.draft.constant("pads", [0, *before, 0, *after])]
            if number:
                reads.append(search.draft.constant("number", number, search.kind(flat)))
            return end, [*nodes, search.node("Pad", reads, [end], mode=mode)]
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
    flat, origin, numbers, start = "", np.full(len(places), _OUTSIDE), set[float](), 0
    for part in parts:
        count, values = math.prod(search.sizes(part) or ()), constants_of(search, part)
        here = (places >= start) & (places < start + count)
        if values is not None:
            numbers |= {*values[places[here] - start].tolist()}
        elif flat:
            return None
        else:
            flat, origin = part, np.where(here, places - start, _OUTSIDE)
        start += count
    return (flat, origin, min(numbers, default=None)) if flat and len(numbers) < 2 else None


def _coordinates(origin: Ints, whole: Sizes) -> list[Ints]:
    """Along each axis, the coordinates of elements; one where there are none."""
    found = np.unravel_index(np.maximum(origin, 0), whole)
    inside = [np.where(origin == _OUTSIDE, _OUTSIDE, each) for each in found]
    axes = range(len(whole))
    return [
        each.max(axis=tuple(other for other in axes if other != axis))
        for axis, each in enumerate(inside)
    ]


def _pad(along: Ints, size: int, mode: Mode) -> tuple[int, int] | None:
    """How many coordinates are before and behind all of an axis."""
    more = len(along) - size
    tries = [(before, more - before) for before in range(more + 1)]
    return next((each for each in tries if np.array_equal(_wide(size, each, mode), along)), None)


def _wide(size: int, pads: tuple[int, int], mode: Mode) -> Ints:
    """The coordinates along an axis with some before and behind."""
    if mode == "constant":
        return np.pad(np.arange(size), pads, "constant", constant_values=_OUTSIDE)
    return np.pad(np.arange(size), pads, mode)


def _around(pads: Sequence[tuple[int, int] | None], whole: Sizes, mode: Mode) -> Ints:
    """The places of the elements of a Pad."""
    table: Ints = np.arange(math.prod(whole)).reshape(whole)
    for axis, each in enumerate(pads):
        along = _wide(whole[axis], each or (0, 0), mode)
        table = np.where(
            np.expand_dims(along == _OUTSIDE, [*range(axis), *range(axis + 1, len(whole))]),
            _OUTSIDE,
            np.take(table, np.maximum(along, 0), axis),
        )
    return table.ravel()
