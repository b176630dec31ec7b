"""Differences of all pairs of elements, and functions of them, as the squares of distances.

Export makes a neuron of each difference, and a list of the pairs. Two tensors that are broadcast
to each other need none.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from math import prod
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import copied, is_one_of
from neat_onnx.passes.elementwise import is_elementwise
from neat_onnx.short_form.groups.linear_nodes import most_terms
from neat_onnx.short_form.groups.search import Found, Ints, Search, Sizes
from neat_onnx.short_form.groups.weighted_sums import Sums, WeightedSums

_MAX_NODES_BACK = 12  # from the result to sums
_SUMS = ("Sub", "Gemm", "ReduceSum")
_NO_ELEMENT = -1  # of a difference of nothing, as export writes x - x
_MIN_PAIRS = 16
_MAX_FUNCTIONS = 4  # one of another
_MOVES = ("Identity", "Sum")  # are no functions


class _Function(NamedTuple):
    """A function of one number.

    Attributes:
        operator: its name.
        reads: its inputs, None for the number and others for constants.
        given: its attributes.
    """

    operator: str
    reads: tuple[float | None, ...]
    given: tuple[tuple[str, Any], ...]


class _Differences(NamedTuple):
    """Functions of differences.

    Attributes:
        operands: the elements of each difference.
        functions: of the differences, the last one first.
    """

    operands: tuple[Ints, Ints]
    functions: Sequence[_Function]


def find_differences_of_pairs(search: Search, last: Node) -> Found | None:
    """The differences of the elements of two tensors along their axes, or a function of them."""
    end, reader = last.output[0], search.sums
    found = _found(search, reader, end) if _are_near(search, end) else None
    if found is None or len(found.operands[0]) < _MIN_PAIRS:
        return None
    for shape in _shapes(search.draft.axes(end) or ()):
        operands = [reader.broadcast(elements, shape) for elements in found.operands]
        known = [each for each in operands if each is not None and prod(each[1]) < prod(shape)]
        if len(known) == len(operands):
            (one, first), (other, second) = (search.in_shape(*each) for each in known)
            nodes = _computed(search, [first, second], found.functions, shape, end)
            return end, [*one, *other, *nodes]
    return None


def _are_near(search: Search, name: str) -> bool:
    """Whether pairs are subtracted on the way to a tensor."""
    near = [
        node for node in islice(search.before(name), _MAX_NODES_BACK) if is_one_of(node, *_SUMS)
    ]
    return bool(near) and most_terms(search, near[0]) <= 2


def _found(search: Search, reader: WeightedSums, name: str) -> _Differences | None:
    """The differences that the elements of a tensor are functions of, if they are."""
    sums, functions = reader.of(name), list[_Function]()
    while sums is not None and len(functions) <= _MAX_FUNCTIONS:
        pairs = _pairs(sums)
        if pairs is not None:
            return _Differences(pairs, functions)
        if not sums.are_elements:
            break
        inside = reader.inside(sums, lambda node: _function(search, node))
        if inside is None:
            break
        sums = inside[0]
        functions.append(inside[1])
    return None


def _pairs(sums: Sums) -> tuple[Ints, Ints] | None:
    """The two elements of each difference, both nothing where it is always 0; None of others."""
    first, second = (np.full(len(sums.biases), _NO_ELEMENT) for _ in range(2))
    for elements, sign in ((first, 1.0), (second, -1.0)):
        held = sums.weights == sign
        elements[sums.rows[held]] = sums.columns[held]
    terms = np.bincount(sums.rows, minlength=len(first))
    whole = np.array_equal(terms, np.where(first == _NO_ELEMENT, 0, 2))
    paired = np.array_equal(first == _NO_ELEMENT, second == _NO_ELEMENT)
    return (first, second) if whole and paired and terms.any() and not sums.biases.any() else None


def _function(search: Search, node: Node) -> tuple[str, _Function] | None:
    """The number that a function is of, and the function; None of functions of several."""
    if not is_elementwise(node) or is_one_of(node, *_MOVES) or "" in node.input:
        return None
    reads = tuple(search.number(name) for name in node.input)
    of = {name for name, number in zip(node.input, reads, strict=True) if number is None}
    given = tuple(sorted(node.given_attributes.items()))
    return (of.pop(), _Function(node.op_type, reads, given)) if len(of) == 1 else None


def _shapes(sizes: Sizes) -> Iterator[Sizes]:
    """Yield the axes of a tensor, and then these with the first one as two, of pairs."""
    if len(sizes) > 1:
        yield sizes
    for size in range(2, sizes[0] // 2 + 1):
        if sizes[0] % size == 0:
            yield (size, sizes[0] // size, *sizes[1:])


def _computed(
    search: Search, operands: list[str], functions: Sequence[_Function], shape: Sizes, end: str
) -> list[Node]:
    """The nodes that make the tensor of two that are broadcast."""
    name, sizes = search.draft.name(end), search.draft.axes(end) or ()
    nodes = [search.draft.node("Sub", operands, [name])]
    for operator, numbers, given in functions[::-1]:
        reads = [
            name if number is None else search.draft.constant("number", number, search.kind(end))
            for number in numbers
        ]
        name = search.draft.name(end)
        nodes.append(search.draft.node(operator, reads, [name], **dict(given)))
    if shape != sizes:
        reads = [name, search.draft.constant("shape", [0, *sizes])]
        nodes.append(search.draft.node("Reshape", reads, [end]))
    nodes[-1] = copied(nodes[-1], output=[end])
    return nodes
