"""GridSample: each element is between four of a picture, at the same place in every channel.

The weights tell the place, and the place the number of the grid. Numbers are rounded to float32 on
the way from a grid to weights, so a grid is right if it gives the places to the last bit.
"""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from neat_onnx.model import DataType, Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.linear_nodes import Terms, most_terms
from neat_onnx.short_form.groups.search import Found, Ints, Search, Sizes

Singles = np.ndarray[Any, np.dtype[np.float32]]
_SINCE = 16  # opset
_AXES = 3  # of a picture, beside its samples
_TOLERANCE = 1e-9
_FAR_OUTSIDE = -3.0  # of the grid: no element is near
_SUMS = ("MatMul", "Gemm", "ReduceSum", "Concat")  # as export writes them
_TAPS = 4  # of a sample
_PADDING = ("zeros", "border")
_STEPS = np.arange(-8, 9, dtype=np.float32)  # to numbers beside the one that is computed


def find_grid_sample(search: Search, last: Node) -> Found | None:
    """The samples of a picture by a constant grid."""
    end, sizes = last.output[0], search.axes_after(last.output[0])
    typed = search.kind(end) is DataType.FLOAT and search.draft.model.opset >= _SINCE
    if not typed or not _ends_in_sums(search, end):
        return None
    reader = search.sums
    sums = reader.of(end)
    terms = [] if sums is None or sums.biases.any() else reader.terms(sums)
    if len(terms) != 1 or len(terms[0].rows) <= prod(sizes):
        return None  # elements as they are
    nodes, source, whole = search.axes_before(terms[0].tensor)
    if len(whole) != _AXES or prod(sizes) % whole[0]:
        return None
    if len(sizes) != _AXES or sizes[0] != whole[0]:
        sizes = (whole[0], prod(sizes) // whole[0], 1)
    one = _of_one_channel(terms[0], whole, sizes)
    found = None if one is None else _grid(one, whole[1:], sizes[1:])
    if found is None:
        return None
    samples, after = search.in_place(end, sizes)
    return end, [*nodes, *_sampled(search, source, *found, samples), *after]


def _ends_in_sums(search: Search, name: str) -> bool:
    """Whether the first node on the way to a tensor that does not move elements adds a few."""
    way = search.computing(name)
    node = next(way, None)
    if node is not None and search.gathered(node) is not None:
        node = next(way, None)
    return node is not None and is_one_of(node, *_SUMS) and most_terms(search, node) <= _TAPS


def _grid(one: Terms, picture: Sizes, sizes: Sizes) -> tuple[Singles, dict[str, object]] | None:
    """The grid of samples in a channel, and the attributes that it is for."""
    places = _places(one, picture, prod(sizes))
    for corners, padding in product((False, True), _PADDING) if places else ():
        grid = [
            _numbers(along, size, corners=corners, border=padding == "border")
            for along, size in zip(places or (), picture, strict=True)
        ]
        known = [each for each in grid[::-1] if each is not None]
        if len(known) == len(grid):
            given = {"align_corners": int(corners), "padding_mode": padding}
            return np.stack(known, -1).reshape(1, *sizes, len(known)), given
    return None


def _of_one_channel(terms: Terms, whole: Sizes, sizes: Sizes) -> Terms | None:
    """The terms of the first channel, if each channel has the same ones of its own elements."""
    if len(terms.rows) % whole[0]:
        return None
    parts = [each.reshape(whole[0], -1) for each in terms[1:]]
    for part, shift in zip(parts, (prod(sizes[1:]), prod(whole[1:]), 0), strict=True):
        if np.any(part - part[:1] != shift * np.arange(whole[0])[:, None]):
            return None
    rows, places, weights = (part[0] for part in parts)
    return Terms(terms.tensor, rows, places, weights)


def _places(terms: Terms, sizes: Sizes, count: int) -> list[Singles] | None:
    """The places along both axes that samples have these weights at, if there are such."""
    rows, weights = terms.rows, terms.weights
    along = np.unravel_index(terms.places, sizes)
    whole = np.bincount(rows, weights, count)
    if np.any(weights < 0.0) or np.any(whole > 1.0 + _TOLERANCE):
        return None
    cut, left = whole < 1.0 - _TOLERANCE, whole < 1.0 - _TOLERANCE  # some elements are not there
    found = []
    for at, size in zip(along, sizes, strict=True):
        low, high = np.full(count, size), np.full(count, -1)
        np.minimum.at(low, rows, at)
        np.maximum.at(high, rows, at)
        share = np.bincount(rows, weights * (at > low[rows]), count)
        places = low + np.where(cut, share / np.maximum(whole, _TOLERANCE), share)
        for border, beyond in ((0, whole - 1.0), (size - 1, size - whole)):
            here = left & (low == border) & (high == border)
            places, left = np.where(here, beyond, places), left & ~here
        found.append(np.where(whole > 0, places, _FAR_OUTSIDE).astype(np.float32))
    return found if _are_at(terms, along, found, sizes) else None


def _are_at(terms: Terms, along: Sequence[Ints], found: Sequence[Singles], sizes: Sizes) -> bool:
    """Whether terms are all that samples at these places have, with their very weights."""
    weights, count = np.ones(len(terms.rows)), np.ones(len(found[0]), np.int64)
    for at, places, size in zip(along, found, sizes, strict=True):
        first = np.floor(places).astype(np.int64)
        part = (places - first).astype(np.float64)
        taps = np.array(
            [(first >= 0) & (first < size), (part > 0) & (first > -2) & (first < size - 1)]
        )
        count *= taps.sum(axis=0)
        weights *= np.where(at == first[terms.rows], 1.0 - part[terms.rows], part[terms.rows])
    return np.array_equal(weights, terms.weights) and count.sum() == len(weights)


def _numbers(places: Singles, size: int, *, corners: bool, border: bool) -> Singles | None:
    """The numbers of a grid that are these places along an axis; None if there are none.

    Args:
        places: from 0 on.
        size: of the axis.
        corners: -1 and 1 are the middles of the elements at the ends.
        border: the elements at the ends are around as well, so that any number beyond is there.
    """
    wanted = places.astype(np.float64)
    near = 2 * wanted / max(size - 1, 1) - 1 if corners else (2 * wanted + 1) / size - 1
    single = near.astype(np.float32)
    tries = single[:, None] + _STEPS * np.spacing(np.abs(single))[:, None]
    one, two, length = np.float32(1), np.float32(2), np.float32(size)
    moved = tries + one
    at = moved / two * (length - one) if corners else (moved * length - one) / two
    if border:
        at, tries[:, 0], tries[:, -1] = np.clip(at, 0, length - one), -two, two
        at[:, 0], at[:, -1] = 0, length - one
    else:
        at = np.where(at < -one, np.float32(_FAR_OUTSIDE), at)
    hits = at == places[:, None]
    return tries[np.arange(len(tries)), hits.argmax(axis=1)] if np.all(hits.any(axis=1)) else None


def _sampled(
    search: Search, source: str, grid: Singles, given: dict[str, Any], end: str
) -> list[Node]:
    """The samples of a tensor; runtimes want a grid for each sample of a batch."""
    batch, shape, grids = (search.draft.name(f"{end}_{part}") for part in ("n", "shape", "grid"))
    ones = search.draft.constant("ones", [1] * _AXES)
    numbers = search.draft.constant("grid", grid, DataType.FLOAT)
    return [
        search.draft.node("Shape", [source], [batch], start=0, end=1),
        search.draft.node("Concat", [batch, ones], [shape], axis=0),
        search.draft.node("Expand", [numbers, shape], [grids]),
        search.draft.node("GridSample", [source, grids], [end], **given),
    ]
