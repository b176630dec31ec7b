"""Masks: softmaxes of rows that lack elements.

Causal attention reads no scores above the diagonal, and its softmax is 0 there. So rows are picked
out of the scores, and their softmaxes are spread again with a neuron that is 0. A Where by a mask
does it without lists of places.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from neat_onnx.model import DataType, Node
from neat_onnx.operators.choices.mixtures_in_axes import in_axes
from neat_onnx.operators.choices.mixtures_of_sums import mixture_of
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.columns import unrepeated_places, without_leading_ones
from neat_onnx.short_form.groups.linear_nodes import Terms
from neat_onnx.short_form.groups.search import Found, Search, Sizes

_BY_NUMBERS = ("Identity", "Mul", "Add", "Sub", "Div")
_SHAPES = ("Identity", "Reshape", "Flatten")
_NONE = -1  # the place of an element that is not there
_OTHER = -2  # that of a neuron which is constant, and not 0


class _Picked(NamedTuple):
    """Elements that were picked out of a tensor.

    Attributes:
        source: the tensor.
        sizes: its shape without the batch.
        places: of the elements in it, flat.
        changes: nodes that change each element alike, the last one first.
    """

    source: str
    sizes: Sizes
    places: np.ndarray
    changes: list[Node]


class _Softmaxes(NamedTuple):
    """Softmaxes of rows, one after the other.

    Attributes:
        scores: the tensor that the rows are picked out of; "" for a neuron that is 0.
        origin: the column of it for each element, -1 where there is none.
        row: the number of the row for each element.
    """

    scores: str
    origin: np.ndarray
    row: np.ndarray


def find_masked_softmax(search: Search, shape: Node) -> Found | None:
    """The softmax of rows that lack elements."""
    end, sizes = shape.output[0], search.draft.axes(shape.output[0])
    parts, places = _spread(search, end)
    if not sizes or math.prod(sizes) != len(places):
        return None
    found = [_softmaxes(search, part) for part in parts]
    softmaxes = [each for each in found if each is not None]
    scores = {each.scores for each in softmaxes} - {""}
    if len(softmaxes) != len(found) or len(scores) != 1:
        return None
    starts = np.cumsum([0, *(1 + each.row.max(initial=0) for each in softmaxes)])
    row = np.concatenate([each.row + start for each, start in zip(softmaxes, starts, strict=False)])
    origin = np.concatenate([each.origin for each in softmaxes])
    widths = np.bincount(row[origin >= 0])
    origin, row = origin[places], row[places]
    if np.any(origin == _OTHER) or not _are_rows(origin, row, widths, sizes[-1]):
        return None
    return _softmax(search, scores.pop(), origin, end, sizes)


def _are_rows(origin: np.ndarray, row: np.ndarray, widths: np.ndarray, length: int) -> bool:
    """Whether each row of a tensor has all elements of one, once, and lacks some somewhere."""
    holds = (origin >= 0).reshape(-1, length)
    first = np.argmax(holds, axis=1)[:, None]
    table = row.reshape(holds.shape)
    own = np.take_along_axis(table, first, axis=1)
    whole = np.all(holds.any(axis=1)) and np.all(holds.sum(axis=1) == widths[own.ravel()])
    single = len(np.unique(origin[origin >= 0])) == holds.sum()
    return bool(whole and single and not holds.all() and np.all((table == own) | ~holds))


def _softmax(search: Search, scores: str, origin: np.ndarray, end: str, sizes: Sizes) -> Found:
    """The softmax of scores that stand in rows, with nothing where there are none."""
    inside, holds, picked = sizes, origin >= 0, _picked(search, scores)
    if picked is not None and picked.sizes[-1] == sizes[-1] and _stay(picked, origin):
        values, nodes = _changed(search, picked)
        inside = picked.sizes
    elif (mixed := _mixed(search, scores, origin)) is not None:
        nodes, values, inside = mixed
    else:
        flat = search.draft.name(scores)
        places = search.draft.constant("places", np.maximum(origin, 0), DataType.INT32)
        nodes = [search.draft.node("Gather", [scores, places], [flat], axis=1)]
        more, values = search.in_shape(flat, sizes)
        nodes += more
    nothing, chosen, result = (search.draft.name(end) for _ in range(3))
    zero = search.draft.constant("zero", 0.0, search.kind(scores))
    nodes.append(search.draft.node("Log", [zero], [nothing]))
    nodes.append(_where(search, holds.reshape(inside), values, nothing, chosen))
    nodes.append(search.draft.node("Softmax", [chosen], [result], axis=-1))
    return end, [*nodes, search.shaped(result, end)]


def _spread(search: Search, name: str) -> tuple[list[str], np.ndarray]:
    """The tensors [N, width] that columns are gathered from, and the places of these columns."""
    gather = _unshaped(search.before(name))
    places = search.gathered(gather)
    if gather is None or places is None:
        return [], np.empty(0, np.int64)
    joined = search.draft.maker(gather.input[0], "Concat")
    return ([gather.input[0]] if joined is None else joined.input), places


def _softmaxes(search: Search, name: str) -> _Softmaxes | None:
    """How the columns of a tensor come from rows."""
    if (numbers := search.constants_of(name)) is not None:
        return _Softmaxes("", np.where(numbers == 0.0, _NONE, _OTHER), np.zeros(len(numbers), int))
    way = search.before(name)
    node, kept = _unshaped(way), None
    if (places := search.gathered(node)) is not None:
        node, kept = _unshaped(way), places
    if node is None or not is_one_of(node, "Softmax") or node.given_attributes.get("axis") != -1:
        return None
    width = (search.draft.axes(node.output[0]) or ())[-1:]
    parts, places = _spread(search, node.input[0])
    holds = np.ones(len(places), np.bool_)
    where = _unshaped(way)
    if where is not None and is_one_of(where, "Where") and _is_nothing(search, where.input[2]):
        mask = search.draft.tensors.get(where.input[0])
        parts, places = _spread(search, where.input[1])
        holds = np.asarray(mask.values).ravel() if mask is not None else holds
    if len(parts) != 1 or len(holds) != len(places) or not width:
        return None
    origin, row = np.where(holds, places, _NONE), np.arange(len(places)) // width[0]
    return _Softmaxes(parts[0], *((origin, row) if kept is None else (origin[kept], row[kept])))


def _picked(search: Search, name: str) -> _Picked | None:
    """How the columns of a tensor were picked out of another one, if they were."""
    way, changes = search.before(name), []
    node = next(way, None)
    while node is not None and _is_by_number(search, node):
        changes += [node] if len(node.input) > 1 else []  # not an Identity
        node = next(way, None)
    places, flat = search.gathered(node), next(way, None)
    if places is None or flat is None or not is_one_of(flat, "Flatten"):
        return None
    sizes = search.draft.axes(flat.input[0])
    return _Picked(flat.input[0], sizes, places, changes) if sizes else None


def _stay(picked: _Picked, origin: np.ndarray) -> bool:
    """Whether elements stand where they were picked."""
    own = np.arange(len(origin))[origin >= 0]
    fits = math.prod(picked.sizes) == len(origin)
    return fits and np.array_equal(picked.places[origin[origin >= 0]], own)


def _changed(search: Search, picked: _Picked) -> tuple[str, list[Node]]:
    """The changes of picked elements for all of a tensor, and the name of the result."""
    nodes = search.changed(picked.source, picked.changes)
    return (nodes[-1].output[0] if nodes else picked.source), nodes


def _mixed(search: Search, scores: str, origin: np.ndarray) -> tuple[list[Node], str, Sizes] | None:
    """The nodes of a mixture of whole tensors that has the scores, its name and its axes."""
    holds, reader = origin >= 0, search.sums
    rows = np.flatnonzero(holds)
    terms = Terms(scores, rows, origin[holds], np.ones(len(rows)))
    sums = reader.added([terms], np.zeros(len(origin)))
    found = None if sums is None else mixture_of(search, reader, sums, holds)
    written = None if found is None else in_axes(search, found, search.kind(scores))
    if written is None:
        return None
    nodes, name, axes = written
    return (nodes, name, axes) if math.prod(axes) == len(origin) else None


def _where(search: Search, mask: np.ndarray, values: str, other: str, end: str) -> Node:
    fewest = without_leading_ones(unrepeated_places(mask))
    holds = search.draft.constant("mask", fewest, DataType.BOOL)
    return search.draft.node("Where", [holds, values, other], [end])


def _unshaped(way: Iterator[Node]) -> Node | None:
    """The first node on a way that makes more than another shape."""
    return next((node for node in way if not is_one_of(node, *_SHAPES)), None)


def _is_by_number(search: Search, node: Node) -> bool:
    """Whether a node changes each element in the same way."""
    constants = [name for name in node.input if name in search.draft.tensors]
    alike = len(node.input) == len(constants) + 1 and all(map(search.is_number, constants))
    return alike and is_one_of(node, *_BY_NUMBERS)


def _is_nothing(search: Search, name: str) -> bool:
    """Whether a tensor is the logarithm of one constant, as -inf is."""
    made = search.draft.maker(name, "Log")
    return made is not None and search.is_number(made.input[0])
