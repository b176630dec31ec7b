"""LpPool: roots of sums of powers in windows of a picture."""

from collections.abc import Sequence
from itertools import islice, product
from math import isclose

import numpy as np

from neat_onnx.model import DataType, Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.axis_windows import AxisWindows
from neat_onnx.short_form.groups.linear_nodes import Terms
from neat_onnx.short_form.groups.power_sums import bases_of
from neat_onnx.short_form.groups.search import Found, Ints, Search, Sizes

_AXES = range(2, 5)  # of a picture, channels and one to three others
_TOLERANCE = 1e-6  # of an exponent of float32
_EUCLIDEAN = 2
_POWERS = ("Sqrt", "Pow")
_MAX_NODES_BACK = 4  # from a sum of sizes to these


def find_lp_pool(search: Search, last: Node) -> Found | None:
    """The norms of windows, whose elements are one after the other in each channel."""
    end, sizes = last.output[0], search.axes_after(last.output[0])
    if len(sizes) not in _AXES or search.kind(end) is not DataType.FLOAT:
        return None
    found = _powers(search, end)
    if found is None:
        return None
    terms, p = found
    nodes, source, whole = search.axes_before(terms.tensor)
    windows = _windows(terms, whole, sizes)
    if not windows or (p == 1 and _are_axes(windows, whole)):
        return None
    sides = zip(*windows, strict=True)
    kernel, steps, before, behind = ([*each] for each in sides)
    pooled, after = search.in_place(end, sizes)
    pool = search.draft.node(
        "LpPool", [source], [pooled],
        kernel_shape=kernel, strides=steps, pads=[*before, *behind], p=p,
    )  # fmt: skip
    return end, [*nodes, pool, *after]


def _are_axes(windows: Sequence[AxisWindows], sizes: Sizes) -> bool:
    """Whether windows are whole axes or single elements, so that a reduction adds them."""
    return all(each.size in (1, size) for each, size in zip(windows, sizes[1:], strict=True))


def _powers(search: Search, name: str) -> tuple[Terms, int] | None:
    """The elements whose powers are added, and the exponent, if a tensor is roots of the sums."""
    if not _ends_in_root(search, name):
        return None
    reader = search.sums
    sums, inverse = reader.of(name), 1.0
    if sums is not None and sums.are_elements:
        sums, inverse = bases_of(search, reader, sums, *_POWERS) or (None, 1.0)
    if sums is None or sums.biases.any() or np.any(sums.weights != 1.0):
        return None
    sums, exponent = bases_of(search, reader, sums, *_POWERS) or (sums, 1.0)
    terms = reader.terms(sums)
    size = search.draft.maker(terms[0].tensor, "Abs", "Mul") if len(terms) == 1 else None
    if size is None or size.input[0] != size.input[-1]:
        return None
    is_size = is_one_of(size, "Abs")
    p = exponent if is_size else _EUCLIDEAN
    fits = isclose(p * inverse, 1.0, rel_tol=_TOLERANCE) and (is_size or exponent == 1.0)
    if not fits or p < 1 or p != int(p):
        return None
    origin = reader.origin(terms[0]._replace(tensor=size.input[0]))
    return None if origin is None else (origin, int(p))


def _ends_in_root(search: Search, name: str) -> bool:
    """Whether the first node on the way to a tensor that computes is a root, or a sum of sizes."""
    way = search.computing(name)
    near = [
        *islice((node for node in way if not is_one_of(node, "Concat", "Gather")), _MAX_NODES_BACK)
    ]
    is_root = bool(near) and is_one_of(near[0], *_POWERS)
    return is_root or any(is_one_of(node, "Abs") for node in near)


def _windows(terms: Terms, whole: Sizes, sizes: Sizes) -> list[AxisWindows] | None:
    """The windows along the axes behind the channels that sums of these terms are of."""
    if len(whole) != len(sizes) or whole[0] != sizes[0]:
        return None
    sums, elements = (
        np.unravel_index(each, axes) for each, axes in ((terms.rows, sizes), (terms.places, whole))
    )
    found, count = [], sizes[0]
    for at, of, length, size in zip(sums[1:], elements[1:], sizes[1:], whole[1:], strict=True):
        low, high = np.full(length, size), np.full(length, -1)
        np.minimum.at(low, at, of)
        np.maximum.at(high, at, of)
        count *= int((high - low + 1).sum())
        found.append(_window(low, high, size))
    alike = np.array_equal(sums[0], elements[0]) and count == len(terms.rows)
    windows = [each for each in found if each is not None]
    return windows if alike and len(windows) == len(found) else None


def _window(low: Ints, high: Ints, size: int) -> AxisWindows | None:
    """The window along an axis of so many elements that has these at its positions."""
    width, positions = int((high - low).max()) + 1, np.arange(len(low))
    steps = {1, *np.diff(low)[-1:].tolist(), *np.diff(high)[:1].tolist()}
    for step, before in product(sorted(steps - {0}), sorted({0, width - 1 - int(high[0])})):
        start = positions * step - before
        ends = np.minimum(start + width, size) - 1
        if np.array_equal(np.maximum(start, 0), low) and np.array_equal(ends, high):
            behind = max(int(start[-1]) + width - size, 0)
            if (size + before + behind - width) // step + 1 == len(low):
                return AxisWindows(width, step, before, behind)
    return None
