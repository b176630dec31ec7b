"""Pad and AveragePool: means of windows that reach beyond the borders of a tensor.

Beyond stand elements of the tensor itself, its last ones or a mirror image. Export gathers the
elements of each window by a list of places, and turns the means back into the order of the axes.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from neat_onnx.model import DataType, Node
from neat_onnx.operators.layout.slice_finder import Mode, wide
from neat_onnx.operators.reductions.reduction_finder import groups_of, way_to
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.axis_windows import AxisWindows
from neat_onnx.short_form.groups.search import Found, Ints, Search, Sizes

_MODES: tuple[Mode, ...] = ("edge", "reflect")
_AXES = range(2, 5)  # channels, and one to three others


def find_moving_average(search: Search, mean: Node) -> Found | None:
    """The means of windows along one axis or several, each of one channel."""
    end, _ = search.end(mean.output[0])
    way = way_to(search, search.made[end])
    typed = search.kind(end) is DataType.FLOAT  # onnxruntime has no other
    if not typed or not any(is_one_of(node, "Gather") for node in way):
        return None
    nodes, source, whole = search.axes_before(way[-1].input[0])
    groups = groups_of(search, whole, way[::-1]) if len(whole) in _AXES else None
    found = None if groups is None else _pool(groups, whole)
    if found is None:
        return None
    mode, order, windows = found
    front = [0, *(1 + axis for axis in _with_channels_first(windows))]
    last = [0, *(front.index(1 + axis) for axis in order)]
    sides = [windows[axis - 1] for axis in front[2:]]
    pads = [0, 0, *(each.before for each in sides), 0, 0, *(each.behind for each in sides)]
    kernel, steps = [each.size for each in sides], [each.step for each in sides]
    turned, padded, pooled, back = (search.draft.name(end) for _ in range(4))
    nodes += _turned(search, source, front, turned)
    inside = nodes[-1].output[0] if nodes else source
    nodes.append(
        search.draft.node("Pad", [inside, search.draft.constant("pads", pads)], [padded], mode=mode)
    )
    nodes.append(
        search.draft.node("AveragePool", [padded], [pooled], kernel_shape=kernel, strides=steps)
    )
    nodes += _turned(search, pooled, last, back)
    return end, [*nodes, search.shaped(nodes[-1].output[0], end)]


def _turned(search: Search, name: str, order: Sequence[int], result: str) -> list[Node]:
    """The node that gives a tensor another order of its axes, if it is another."""
    if [*order] == sorted(order):
        return []
    return [search.draft.node("Transpose", [name], [result], perm=[*order])]


def _with_channels_first(windows: Sequence[AxisWindows]) -> list[int]:
    """The axes in the order of a pool: first one of which windows have one element each."""
    axes = [*range(len(windows))]
    channel = next(axis for axis in axes if windows[axis].size == 1)
    return [channel, *(axis for axis in axes if axis != channel)]


def _pool(groups: Ints, whole: Sizes) -> tuple[Mode, list[int], list[AxisWindows]] | None:
    """The mode of the borders, the order in which the axes of means stand, and the windows along
    each, if these groups of elements are windows.
    """
    coordinates = [np.sort(each, axis=1) for each in np.unravel_index(groups, whole)]
    runs = [_run(each) for each in coordinates]
    order = sorted(range(len(whole)), key=lambda axis: -runs[axis])
    before = dict(zip(order, [len(groups), *(runs[axis] for axis in order)], strict=False))
    starts = [
        each[:: runs[axis]][: before[axis] // runs[axis]] for axis, each in enumerate(coordinates)
    ]
    for mode in _MODES:
        windows = [_windows(*each, mode) for each in zip(starts, whole, strict=True)]
        known = [each for each in windows if each is not None]
        if len(known) == len(whole) and any(each.size == 1 for each in known):
            is_wide = any(each.before + each.behind for each in known)
            if is_wide and np.array_equal(_groups(known, order, whole, mode), groups):
                return mode, order, known
    return None


def _run(coordinates: Ints) -> int:
    """How many groups at first have the same coordinates along an axis."""
    others = np.flatnonzero(np.any(coordinates != coordinates[0], axis=1))
    return int(others[0]) if len(others) else len(coordinates)


def _windows(coordinates: Ints, size: int, mode: Mode) -> AxisWindows | None:
    """The windows along an axis of so many elements that have these coordinates, in order."""
    count, taps = coordinates.shape
    seen = max(len({*each}) for each in coordinates.tolist())
    widths = [seen] if seen < size else [each for each in range(seen, taps + 1) if taps % each == 0]
    step = int(np.diff(coordinates[:, 0]).max(initial=1))
    for width, before in product(widths, range(size)):
        behind = (count - 1) * step + width - size - before
        if 0 <= behind < size:
            around = sliding_window_view(wide(size, (before, behind), mode), width)[::step]
            if np.array_equal(np.sort(around, axis=1), coordinates[:, :: max(taps // width, 1)]):
                return AxisWindows(width, step, before, behind)
    return None


def _groups(windows: Sequence[AxisWindows], order: Sequence[int], whole: Sizes, mode: Mode) -> Ints:
    """The elements of all windows, ascending in each, by the order of the axes of their means."""
    places = np.zeros((1,) * 2 * len(whole), np.int64)
    for axis, (each, size) in enumerate(zip(windows, whole, strict=True)):
        along = wide(size, (each.before, each.behind), mode)
        table = sliding_window_view(along, each.size)[:: each.step] * prod(whole[axis + 1 :])
        sizes = [1] * 2 * len(whole)
        sizes[axis], sizes[len(whole) + axis] = table.shape
        places = places + table.reshape(sizes)
    places = places.transpose([*order, *range(len(whole), 2 * len(whole))])
    found: Ints = np.sort(places.reshape(prod(places.shape[: len(whole)]), -1), axis=1)
    return found
