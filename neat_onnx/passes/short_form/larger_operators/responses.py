"""LRN: elements times a power of the sum of squares of the channels beside them."""

from math import prod
from typing import NamedTuple

import numpy as np

from neat_onnx.model import DataType, Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.short_form.larger_operators.search import Found, Search

_AXES = 3  # of a picture, beside its samples: runtimes have no other ones
_ALPHA = 1e-4  # where none is given, as no number of float32 has it


class _Power(NamedTuple):
    """A power of a sum of squares.

    Attributes:
        squared: the tensor.
        terms: the fewest squares that are added.
        weight: of each square.
        bias: the number that is added.
        exponent: of the power.
    """

    squared: str
    terms: int
    weight: float
    bias: float
    exponent: float


def local_response(search: Search, product: Node) -> Found | None:
    """LRN: the elements of a picture by neighbouring channels.

    The first channel has only channels behind it, so it tells how many there are on each side.
    """
    for x, factor in (product.input, product.input[::-1]):
        powers = [_power(search, name) for name in _parts(search, factor)]
        found = [power for power in powers if power is not None]
        if found and len(found) == len(powers):
            return _response(search, product, x, found)
    return None


def _response(search: Search, product: Node, x: str, found: list[_Power]) -> Found | None:
    sizes = search.draft.axes(x)
    alike = len({power[2:] for power in found}) == 1
    read = {power.squared for power in found} == {search.unchanged(x)}
    if not (alike and read) or sizes is None or search.kind(x) is not DataType.FLOAT:
        return None
    nodes, source, whole = search.in_axes(search.unchanged(x), prod(sizes))
    terms = min(power.terms for power in found)
    numbers = _size(found[0].weight, terms, everyone=terms == whole[0])
    if len(whole) != _AXES or numbers is None:
        return None
    size, alpha = numbers
    attributes = {"alpha": alpha, "beta": -found[0].exponent, "bias": found[0].bias, "size": size}
    end, _ = search.end(product.output[0])
    if search.draft.axes(end) == whole:
        return end, [*nodes, search.node("LRN", [source], [end], **attributes)]
    result, end = search.draft.name("response"), product.output[0]
    nodes.append(search.node("LRN", [source], [result], **attributes))
    return end, [*nodes, search.node("Flatten", [result], [end], axis=1)]


def _size(weight: float, terms: int, *, everyone: bool) -> tuple[int, float] | None:
    """The number of channels, and alpha, whose quotient is the weight of each square.

    Args:
        weight: that one.
        terms: of the sum of the first channel: itself, and those behind it.
        everyone: these are all channels, so that there may be more.
    """
    for size in range(2 * terms - 1, (6 if everyone else 2) * terms, 2):
        for alpha in (float(np.float32(weight * size)), _ALPHA):
            if alpha / size == weight:
                return size, alpha
    return None


def _parts(search: Search, name: str) -> list[str]:
    """The tensors whose elements another one has, some here and some there."""
    for node in search.before(name):
        if is_one_of(node, "Concat"):
            return [*node.input]
        if not (search.moves(node) or is_one_of(node, "Gather")):
            break
    return [name]


def _power(search: Search, name: str) -> _Power | None:
    """The power of a sum of squares that a tensor is, whatever its shape."""
    way = (node for node in search.before(name) if not search.moves(node))
    node = next(way, None)
    exponent = _alike(search, node.input[1]) if node and is_one_of(node, "Pow") else None
    terms, weight, bias = 1, 1.0, 0.0
    for each in way:
        if exponent is None or (step := _step(search, each)) is None:
            return None
        if is_one_of(each, "Mul") and each.input[0] == each.input[1]:
            return _Power(search.unchanged(each.input[0]), terms, weight, bias, exponent)
        terms, weight, bias = terms * step[0], weight * step[1], bias + step[2]
    return None


def _step(search: Search, node: Node) -> tuple[int, float, float] | None:
    """How many terms of a sum a node adds, at least, their weight, and a number that it adds."""
    if is_one_of(node, "Gather"):
        return 1, 1.0, 0.0
    if is_one_of(node, "ReduceSum"):
        before, after = (search.draft.axes(name) for name in (node.input[0], node.output[0]))
        if before is None or after is None or 0 in after:
            return None
        return prod(before) // prod(after), 1.0, 0.0
    if is_one_of(node, "Gemm", "Conv"):
        return _of_rows(search, node)
    number = _alike(search, node.input[-1])
    if is_one_of(node, "Add"):
        return (2, 1.0, 0.0) if number is None else (1, 1.0, number)
    return (1, number or 1.0, 0.0) if is_one_of(node, "Mul") else None


def _of_rows(search: Search, node: Node) -> tuple[int, float, float] | None:
    """The same of a product with rows of one weight, and none."""
    weights = search.constant(node.input[1])
    numbers = [_alike(search, name) for name in node.input[2:]]
    if weights is None or None in numbers:
        return None
    rows = np.asarray(weights.values).reshape(weights.dims[0], -1)
    given = np.unique(rows[rows != 0])
    terms = int(np.count_nonzero(rows, axis=1).min())
    return (terms, float(given[0]), sum(filter(None, numbers))) if len(given) == 1 else None


def _alike(search: Search, name: str) -> float | None:
    """The one number that all elements of a constant are."""
    tensor = search.constant(name)
    numbers = np.empty(0) if tensor is None else np.unique(tensor.values)
    return float(numbers[0]) if len(numbers) == 1 else None
