"""Where: elements that were picked out of a tensor, and spread again with others in between.

So come the scores of causal attention, of which the upper triangle is not read, and its shares,
which are 0 there.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from neat_onnx.model import DataType, Node
from neat_onnx.passes.draft import attributes_of, copied, is_one_of
from neat_onnx.passes.short_form.larger_operators.search import Found, Search

_BY_NUMBERS = ("Identity", "Mul", "Add", "Sub", "Div")
_SHAPES = ("Identity", "Reshape", "Flatten")
_SIDES = 2  # of a Concat: what was picked, and a constant neuron


class _Spread(NamedTuple):
    """A tensor with the elements of another one, each in its place, and others between them.

    Attributes:
        source: the other tensor.
        changes: nodes that change each element of it alike, the last one first.
        holds: where its elements are, in its shape without the batch.
        number: the others; None where they are any elements.
    """

    source: str
    changes: list[Node]
    holds: np.ndarray
    number: float | None


def masked(search: Search, where: Node) -> Found | None:
    """Elements where a mask holds, and nothing in the places of those that were not picked."""
    mask, values, absent = where.input
    spread = _spread(search, values) if mask in search.draft.tensors else None
    if spread is None or spread.number is not None or not _is_nothing(search, absent):
        return None
    holds = np.asarray(search.draft.tensors[mask].values)
    if holds.size != spread.holds.size:
        return None
    holds = holds.reshape(spread.holds.shape)
    if np.any(holds & ~spread.holds):
        return None
    return _chosen(search, spread._replace(holds=holds), absent, where.output[0])


def filled(search: Search, shape: Node) -> Found | None:
    """Elements with a constant neuron in the places of those that were not picked."""
    spread = _spread(search, shape.output[0])
    if spread is None or spread.number is None:
        return None
    end = shape.output[0]
    if spread.number == 0.0 and not spread.changes and _are_shares(search, spread):
        return _shaped(search, spread.source, end, [])
    kind = search.draft.facts(spread.source).elem_type or DataType.FLOAT
    return _chosen(search, spread, search.draft.constant("number", spread.number, kind), end)


def _are_shares(search: Search, spread: _Spread) -> bool:
    """Whether a tensor is of shares, which are 0 where they are not picked."""
    softmax = search.made.get(spread.source)
    if softmax is None or not is_one_of(softmax, "Softmax"):
        return False
    where = _unshaped(search.before(softmax.input[0]))
    if where is None or not is_one_of(where, "Where") or not _is_nothing(search, where.input[2]):
        return False
    mask = search.draft.tensors.get(where.input[0])
    return mask is not None and np.array_equal(mask.values.ravel(), spread.holds.ravel())


def _is_nothing(search: Search, name: str) -> bool:
    """Whether a tensor is the logarithm of one constant, as -inf is."""
    made = search.made.get(name)
    return made is not None and is_one_of(made, "Log") and search.is_number(made.input[0])


def _chosen(search: Search, spread: _Spread, other: str, end: str) -> Found | None:
    """The tensor `end`, of elements where a mask holds, and of another number."""
    nodes, name = [], spread.source
    for change in spread.changes[::-1]:
        changed = search.draft.name(change.output[0])
        reads = [each if each in search.draft.tensors else name for each in change.input]
        nodes.append(copied(change, name="", input=reads, output=[changed]))
        name = changed
    mask, chosen = spread.holds, search.draft.name(end)
    while mask.ndim > 1 and np.all(mask == mask[0]):
        mask = mask[0]  # which is repeated
    reads = [search.draft.constant("mask", mask, DataType.BOOL), name, other]
    return _shaped(search, chosen, end, [*nodes, search.node("Where", reads, [chosen])])


def _shaped(search: Search, name: str, end: str, nodes: list[Node]) -> Found | None:
    """The tensor `end`, another one in its shape."""
    sizes = search.draft.facts(end).shape
    if sizes is None:
        return None
    shape = search.draft.constant("shape", [0, *sizes[1:]])
    return end, [*nodes, search.node("Reshape", [name, shape], [end])]


def _spread(search: Search, name: str) -> _Spread | None:
    """How the elements of a tensor were picked and spread, if they were."""
    way = search.before(name)
    spread = _places(search, _unshaped(way))
    node, number, changes = next(way, None), None, []
    if node is not None and is_one_of(node, "Concat") and len(node.input) == _SIDES:
        number, node = _constant(search, node.input[1]), next(way, None)
    while node is not None and _is_by_number(search, node):
        changes += [node] if len(node.input) > 1 else []  # not an Identity
        node = next(way, None)
    picked, flat = _places(search, node), next(way, None)
    if spread is None or picked is None or flat is None or not is_one_of(flat, "Flatten"):
        return None
    shape = search.draft.facts(flat.input[0]).shape or ()
    sizes = [size for size in shape[1:] if isinstance(size, int)]
    if len(sizes) + 1 != len(shape) or math.prod(sizes) != len(spread):
        return None
    origin = np.append(picked, -1)[np.minimum(spread, len(picked))]  # -1 is the constant neuron
    holds = origin == np.arange(len(origin))
    if np.any(origin < 0 if number is None else ~holds & (origin >= 0)):
        return None
    return _Spread(flat.input[0], changes, holds.reshape(sizes), number)


def _unshaped(way: Iterator[Node]) -> Node | None:
    """The first node on a way that is no other shape of a tensor."""
    return next((node for node in way if not is_one_of(node, *_SHAPES)), None)


def _places(search: Search, node: Node | None) -> np.ndarray | None:
    """The places in a sample that a Gather takes elements from."""
    if node is None or not is_one_of(node, "Gather") or attributes_of(node).get("axis") != 1:
        return None
    tensor = search.draft.tensors.get(node.input[1])
    return None if tensor is None or len(tensor.dims) != 1 else np.asarray(tensor.values)


def _is_by_number(search: Search, node: Node) -> bool:
    """Whether a node changes each element in the same way."""
    constants = [name for name in node.input if name in search.draft.tensors]
    alike = len(node.input) == len(constants) + 1 and all(map(search.is_number, constants))
    return alike and is_one_of(node, *_BY_NUMBERS)


def _constant(search: Search, name: str) -> float | None:
    """The value of a neuron that weighs its inputs with 0."""
    node = _unshaped(search.before(name))
    if node is None or not is_one_of(node, "Gemm"):
        return None
    weights, *biases = (search.draft.tensors.get(each) for each in node.input[1:])
    if weights is None or weights.values.any():
        return None
    numbers = [each.values.item() for each in biases if each is not None and each.size == 1]
    return float(sum(numbers)) if len(numbers) == len(biases) else None
