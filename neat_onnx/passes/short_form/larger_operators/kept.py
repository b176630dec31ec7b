"""Where, Trilu: elements of a tensor in their places, and a number or a tensor in all others.

Export lists the elements that stay, and has constant neurons for the number.
"""

from itertools import islice
from typing import NamedTuple

import numpy as np

from neat_onnx.model import DataType, Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.elementwise import is_function_of_one
from neat_onnx.passes.short_form.larger_operators.linear_nodes import Terms
from neat_onnx.passes.short_form.larger_operators.search import Found, Ints, Search, Sizes
from neat_onnx.passes.short_form.larger_operators.weighted_sums import Sums, WeightedSums
from neat_onnx.passes.short_form.triangles import SINCE as TRIANGLES_SINCE
from neat_onnx.passes.short_form.triangles import triangle_of

_FARTHEST = 6  # nodes from the result back to joined elements
_MOST = 4  # functions, one of another
_SIDES = 2  # of a choice


class _Side(NamedTuple):
    """Elements that stand in their own places.

    Attributes:
        tensor: that they are elements of.
        rows: their places.
        functions: of them, the last one first.
        factor: of the results.
    """

    tensor: str
    rows: Ints
    functions: list[Node]
    factor: float


def kept(search: Search, last: Node) -> Found | None:
    """The choice by a constant mask between tensors, or a tensor and a number."""
    end, reader = last.output[0], search.sums
    near = islice(search.before(end), _FARTHEST)
    joined = next((node for node in near if is_one_of(node, "Concat")), None)
    sums, functions = (None, []) if joined is None else _inside(search, reader, end)
    if sums is None or len(np.unique(sums.rows)) < len(sums.rows) or sums.biases[sums.rows].any():
        return None
    sides = [_side(search, reader, terms, len(sums.biases)) for terms in reader.terms(sums)]
    known = [side for side in sides if side is not None]
    number = _number(sums)
    if len(known) < len(sides) or len(sides) + (number is not None) != _SIDES:
        return None
    nodes, names, axes = list[Node](), list[str](), set[Sizes]()
    for side in known:
        before, name, whole = search.axes_before(side.tensor)
        computed = _computed(search, side, name)
        nodes += [*before, *computed]
        names.append(computed[-1].output[0] if computed else name)
        axes.add(whole)
    if len(axes) > 1:
        return None
    mask = np.zeros(len(sums.biases), np.bool_)
    mask[known[0].rows] = True
    copied = joined is not None and any(_is_copied(search, name) for name in joined.input)
    nodes.append(_choice(search, _once(mask.reshape(axes.pop())), names, number, copied=copied))
    nodes += search.changed(nodes[-1].output[0], functions)
    return end, [*nodes, search.shaped(nodes[-1].output[0], end)]


def _inside(search: Search, reader: WeightedSums, name: str) -> tuple[Sums | None, list[Node]]:
    """The elements that a tensor has functions of, and the functions, the last one first."""
    sums, functions = reader.of(name), list[Node]()
    while sums is not None and sums.are_elements and len(functions) < _MOST:
        terms = reader.terms(sums)
        node = search.made.get(terms[0].tensor) if len(terms) == 1 else None
        if node is None or not is_function_of_one(node):
            break
        functions.append(node)
        sums = reader.added([terms[0]._replace(tensor=node.input[0])], sums.biases)
    return sums, functions


def _is_copied(search: Search, name: str) -> bool:
    """Whether the elements of a tensor are neurons that copy others."""
    way = (node for node in search.before(name) if not search.moves(node))
    node = next(way, None)
    return node is not None and is_one_of(node, "Sum") and len(node.input) == 1


def _choice(
    search: Search, mask: np.ndarray, names: list[str], number: float | None, *, copied: bool
) -> Node:
    """The choice between tensors, or one and a number; copies and 0 are products by a mask."""
    chosen, kind, constant = (
        search.draft.name("chosen"),
        search.kind(names[0]),
        search.draft.constant,
    )
    if copied and number == 0.0:
        return search.node(
            "Mul", [*names, constant("mask", mask.astype(np.float64), kind)], [chosen]
        )
    triangle = triangle_of(mask) if search.draft.model.opset >= TRIANGLES_SINCE else None
    if number == 0.0 and triangle:
        diagonal = [constant("diagonal", triangle.diagonal)] if triangle.diagonal else []
        return search.node("Trilu", [*names, *diagonal], [chosen], upper=triangle.upper)
    if number is not None:
        names = [*names, constant("number", number, kind)]
    return search.node("Where", [constant("mask", mask, DataType.BOOL), *names], [chosen])


def _number(sums: Sums) -> float | None:
    """The one number that all sums of nothing are, if there are any."""
    constant = np.bincount(sums.rows, minlength=len(sums.biases)) == 0
    numbers = np.unique(sums.biases[constant])
    return float(numbers[0]) if len(numbers) == 1 else None


def _side(search: Search, reader: WeightedSums, terms: Terms, size: int) -> _Side | None:
    """The tensor that terms are elements of, each in its place, or that they are functions of."""
    factors, functions = np.unique(terms.weights), list[Node]()
    found: Terms | None = terms._replace(weights=np.ones(len(terms.rows)))
    while found is not None and len(factors) == 1 and len(functions) <= _MOST:
        sizes = search.draft.axes(found.tensor) or ()
        if int(np.prod(sizes)) == size and np.array_equal(found.places, found.rows):
            return _Side(found.tensor, terms.rows, functions, float(factors[0]))
        node = search.made.get(found.tensor)
        if node is None or not is_function_of_one(node):
            break
        functions.append(node)
        found = reader.origin(found._replace(tensor=node.input[0]))
    return None


def _computed(search: Search, side: _Side, name: str) -> list[Node]:
    """The nodes that make the elements of a side, of all of a tensor."""
    nodes = search.changed(name, side.functions)
    if side.factor != 1.0:
        name = nodes[-1].output[0] if nodes else name
        reads = [name, search.draft.constant("factor", side.factor, search.kind(side.tensor))]
        nodes.append(search.node("Mul", reads, [search.draft.name(name)]))
    return nodes


def _once(mask: np.ndarray) -> np.ndarray:
    """A mask, once along each axis along which it is the same."""
    for axis in range(mask.ndim):
        once = mask.take([0], axis)
        mask = once if np.all(mask == once) else mask
    while mask.ndim > 1 and len(mask) == 1:
        mask = mask[0]
    return mask
