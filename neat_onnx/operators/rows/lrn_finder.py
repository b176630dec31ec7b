"""LRN: elements times a power of the sum of squares of the channels beside them."""

from math import prod
from typing import NamedTuple

import numpy as np

from neat_onnx.model import DataType, Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.linear_nodes import Terms
from neat_onnx.short_form.groups.power_sums import bases_of, roots_of
from neat_onnx.short_form.groups.search import Floats, Found, Search, Sizes

_AXES = 3  # of a picture, beside its samples: runtimes have no other ones
_ALPHA = 1e-4  # where none is given, as no number of float32 has it


class _Powers(NamedTuple):
    """Powers of sums of squares.

    Attributes:
        squares: the terms of the sums, by the tensor that is squared.
        biases: the numbers that are added to them.
        exponent: of all powers.
    """

    squares: Terms
    biases: Floats
    exponent: float


def find_local_response(search: Search, product: Node) -> Found | None:
    """LRN: the elements of a picture by neighbouring channels."""
    for x, factor in (product.input, product.input[::-1]):
        powers = _powers(search, factor)
        if powers is not None and _is_moved(search, powers.squares.tensor, search.unchanged(x)):
            return _response(search, product.output[0], powers)
    return None


def _is_moved(search: Search, source: str, name: str) -> bool:
    """Whether a tensor is another one, or has the same elements in the same order."""
    if source == name:
        return True
    every = np.arange(prod(search.draft.axes(name) or ()))
    origin = search.sums.origin(Terms(name, every, every, np.ones(len(every))))
    return origin is not None and origin.tensor == source and np.array_equal(origin.places, every)


def _response(search: Search, end: str, powers: _Powers) -> Found | None:
    nodes, source, whole = search.axes_before(powers.squares.tensor)
    weights, biases = np.unique(powers.squares.weights), np.unique(powers.biases)
    alike = len(weights) == len(biases) == 1 and prod(whole) == len(powers.biases)
    if not alike or len(whole) != _AXES or search.kind(source) is not DataType.FLOAT:
        return None
    reach = _reach(powers.squares, whole)
    numbers = None if reach is None else _size(float(weights[0]), reach, whole[0])
    if numbers is None:
        return None
    size, alpha = numbers
    bias, beta = float(biases[0]), -powers.exponent
    last, _ = search.end(end)
    in_place = search.draft.axes(last) == whole
    result = last if in_place else search.draft.name("response")
    nodes.append(
        search.draft.node("LRN", [source], [result], alpha=alpha, beta=beta, bias=bias, size=size)
    )
    if in_place:
        return last, nodes
    return end, [*nodes, search.draft.node("Flatten", [result], [end], axis=1)]


def _reach(squares: Terms, sizes: Sizes) -> int | None:
    """How many channels on each side of its own are in each sum, as far as there are so many."""
    elements, own = prod(sizes[1:]), np.arange(sizes[0])
    reach = int(np.abs(squares.places // elements - squares.rows // elements).max(initial=0))
    counts = np.minimum(own + reach, sizes[0] - 1) - np.maximum(own - reach, 0) + 1
    whole = len(squares.places) == counts.sum() * elements
    beside = np.array_equal(squares.places % elements, squares.rows % elements)
    return reach if whole and beside else None


def _size(weight: float, reach: int, channels: int) -> tuple[int, float] | None:
    """The number of channels, and alpha, whose quotient is the weight of each square.

    Args:
        weight: that one.
        reach: the channels on each side; where these are all that there are, there may be more.
        channels: of the picture.
    """
    everyone = reach == channels - 1
    for size in range(2 * reach + 1, (6 if everyone else 2) * (reach + 1), 2):
        for alpha in (float(np.float32(weight * size)), _ALPHA):
            if alpha / size == weight:
                return size, alpha
    return None


def _powers(search: Search, name: str) -> _Powers | None:
    """The powers of sums of squares that the elements of a tensor are."""
    if not _ends_in_power(search, name):
        return None
    reader = search.sums
    elements = reader.of(name)
    if elements is None or not elements.are_elements:
        return None
    found = bases_of(search, reader, elements, "Pow")
    squares = None if found is None else roots_of(search, reader.terms(found[0]))
    if found is None or squares is None:
        return None
    sums, exponent = found
    return _Powers(squares, sums.biases, exponent)


def _ends_in_power(search: Search, name: str) -> bool:
    """Whether the first node on the way to a tensor that does more than move elements is a Pow."""
    for node in search.before(name):
        if not (search.moves(node) or is_one_of(node, "Concat", "Gather", "Split")):
            return is_one_of(node, "Pow")
    return False
