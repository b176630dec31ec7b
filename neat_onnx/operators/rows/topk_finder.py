"""TopK: elements chosen by an order, their places, or rows of a table at these places.

Import finds the first elements one after the other, and takes each away from the others; or it
compares all pairs, which gives each element a rank. Elements that nothing reads are not found: the
third one alone is an element of three that are in order.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.search import Found, Search

_BETWEEN = ("Cast", "Concat", "Mul")  # a chooser and the comparisons of an order
_DIFFERENCES = ("Sub", "ReduceSum", "Mul")  # of pairs of elements
_TAKEN = ("Mul", "Concat")  # from a choice to the sum that it is taken from
_SMALLER = 0.25  # elements that more than one is taken from
_Shape = Sequence[object]


class _Order(NamedTuple):
    """An order of the elements of rows.

    Attributes:
        source: their tensor.
        length: of a row.
        start: how many elements come before the chosen ones.
        least: how many are put into the order, at least.
        by_rank: each was compared with each other one.
    """

    source: str
    length: int
    start: int
    least: int
    by_rank: bool


class _Part(NamedTuple):
    """Elements that follow one another in an order along an axis.

    Attributes:
        axis: the axis.
        length: how many they are.
        keeps: the axis stays; otherwise there is one element.
    """

    axis: int
    length: int
    keeps: bool


def find_order(search: Search, chooser: Node) -> Found | None:
    """Elements that follow one another in an order, or the places of these."""
    way, weighed = search.before(chooser.output[0]), chooser
    next(way)
    while (node := next(way, None)) is not None and (
        search.moves(node) or is_one_of(node, *_BETWEEN)
    ):
        weighed = node if is_one_of(node, "Mul") else weighed
    if node is None or not is_one_of(node, "Equal", "Hardmax"):
        return None
    other = weighed.input[1] if is_one_of(weighed, "MatMul", "Gemm", "Mul") else ""
    table, values = (other, "") if other in search.draft.tensors else ("", other)
    found = _order(search, [node, *way], values)
    if found is None:
        return None
    if is_one_of(chooser, "MatMul") and table and not search.are_indices(table):
        return _rows(search, found, table, chooser.output[0])
    for end, turned in search.ends(chooser.output[0])[::-1]:
        shape = search.draft.facts(end).shape or ()
        chosen = _chosen(search, found, shape, turned=turned)
        if chosen is not None:
            name, places, nodes = chosen
            named = search.draft.node("Identity", [name], [end])
            return end, [*nodes, search.cast(places, end, name) if table else named]
        column = shape[-1:] == (1,) and _chosen(search, found, shape[:-1], turned=turned)
        if column and not table:
            name, _, nodes = column
            return end, [*nodes, search.shaped(name, end)]
    return None


def _rows(search: Search, found: _Order, table: str, end: str) -> Found | None:
    """The rows of a table at the places of elements."""
    shape = search.draft.facts(end).shape or ()
    chosen = _chosen(search, found, shape[:-1], turned=False)
    if chosen is None:
        return None
    _, places, nodes = chosen
    return end, [*nodes, search.draft.node("Gather", [table, places], [end], axis=0)]


def _chosen(
    search: Search, found: _Order, shape: _Shape, *, turned: bool
) -> tuple[str, str, list[Node]] | None:
    """The elements of a shape, their places, and the nodes that are new for them."""
    for before, name, whole in _shapes(search, found):
        part = _part(whole, shape, turned=turned)
        if part is not None and whole[part.axis] == found.length:
            names, nodes = _ordered(search, found._replace(source=name), part)
            return *names, [*before, *nodes]
    return None


def _shapes(search: Search, found: _Order) -> Iterator[tuple[list[Node], str, _Shape]]:
    """Yield the tensors that have the elements: the nodes that make one, its name and its shape."""
    for name in search.shapes_of(found.source):
        yield [], name, search.draft.facts(name).shape or ()
    nodes, name, sizes = search.axes_before(found.source)
    yield nodes, name, (None, *sizes)
    rows = prod(sizes) // found.length
    if rows > 1 and prod(sizes) == rows * found.length:
        nodes, name = search.in_shape(found.source, (rows, found.length))
        yield nodes, name, (None, rows, found.length)


def _part(whole: _Shape, shape: _Shape, *, turned: bool) -> _Part | None:
    """The axis along which a shape has elements of another one, and how many.

    An axis that is gone had one of them. Where more than one may be it, it is the last one, or the
    first one if the result was turned.
    """
    behind, keeps = range(1, len(whole)), len(whole) == len(shape)
    if keeps:
        others = [axis for axis in behind if whole[axis] != shape[axis]]
        axes = [*behind] if not others else others[:1] * (len(others) == 1)
    else:
        axes = [axis for axis in behind if [*whole[1:axis], *whole[axis + 1 :]] == [*shape[1:]]]
    if not axes:
        return None
    axis = axes[0 if turned else -1]
    count = shape[axis] if keeps else 1
    return _Part(axis, count, keeps) if isinstance(count, int) else None


def _ordered(search: Search, found: _Order, part: _Part) -> tuple[tuple[str, str], list[Node]]:
    """The elements of a part of an order and their places, and the nodes that are new for them."""
    count = max(found.start + part.length, found.least)
    if part.keeps and count == part.length:
        return _sorted(search, found.source, part.axis, count)
    whole = found.length if found.by_rank else count
    names, nodes = _sorted(search, found.source, part.axis, whole)
    chosen = range(found.start, found.start + part.length) if part.keeps else found.start
    at = search.draft.constant("chosen", chosen)
    values, places = map(search.draft.name, names)
    nodes += [
        search.draft.node("Gather", [name, at], [end], axis=part.axis)
        for name, end in zip(names, (values, places), strict=True)
    ]
    return (values, places), nodes


def _sorted(
    search: Search, source: str, axis: int, count: int
) -> tuple[tuple[str, str], list[Node]]:
    """The elements and the places of the TopK of a tensor, and the node if it is a new one."""
    if (source, axis, count) in search.orders:
        return search.orders[source, axis, count], []
    names = search.draft.name("top"), search.draft.name("places")
    search.orders[source, axis, count] = names
    reads = [source, search.draft.constant("count", [count])]
    largest = int(search.largest)
    return names, [search.draft.node("TopK", reads, names, axis=axis, largest=largest)]


def _order(search: Search, way: list[Node], values: str) -> _Order | None:
    """The order of elements at the beginning of the way to a choice, perhaps between values."""
    if is_one_of(way[0], "Hardmax"):
        rounds = _rounds(search, way[0])
        ordered = rounds[-1].input[0]
        source, least = _source(search, ordered, values)
        length = (search.draft.axes(ordered) or (0,))[-1]
        return _Order(source, length, len(rounds) - 1, least, by_rank=False) if length else None
    for k, node in enumerate(way[:-1]):
        if is_one_of(node, "LessOrEqual", "GreaterOrEqual"):
            rest = (each for each in way[k + 1 :] if not search.moves(each))
            after = next((each for each in rest if not is_one_of(each, *_DIFFERENCES)), None)
            if after is None or not is_one_of(after, "Gemm", "MatMul", "Gather"):
                return None
            source = after.input[0]
            pairs, size = (prod(search.draft.axes(x) or ()) for x in (node.output[0], source))
            start = _least_rank(search, way[0].input[0])
            return _Order(source, 1 + 2 * pairs // size, start, 1, by_rank=True)
    return None


def _source(search: Search, ordered: str, values: str) -> tuple[str, int]:
    """The tensor whose elements are ordered, and how many of them are, at least.

    Where one is, they are ordered as they are, or with the other sign; else they are made smaller.
    """
    made, chosen = search.computed_by(ordered), search.computed_by(values)
    if made is None:
        return ordered, 1
    name = made.output[0]
    if chosen is made:
        return name, 1
    numbers = [number for each in made.input if (number := search.number(each)) is not None]
    is_smaller = is_one_of(made, "Mul") and [*map(abs, numbers)] == [_SMALLER]
    return search.rearranged(name), 1 + (is_smaller and values != "")


def _rounds(search: Search, choice: Node) -> list[Node]:
    """The choices of one element after the other, the last one first: each is taken away."""
    rounds = [choice]
    while (before := _taken(search, rounds[-1].input[0])) is not None:
        rounds.append(before)
    return rounds


def _taken(search: Search, name: str) -> Node | None:
    """The choice of an element that was taken away from a tensor, if one was."""
    added = search.computed_by(name)
    if added is None or not is_one_of(added, "Add", "Gemm"):
        return None
    joined = search.draft.maker(added.input[0], "Concat")
    parts = added.input if joined is None else joined.input
    for part in parts:
        way = search.before(part)
        node = next((each for each in way if not _is_between(search, each)), None)
        if node is not None and is_one_of(node, "Hardmax"):
            return node
    return None


def _is_between(search: Search, node: Node) -> bool:
    """Whether a node may stand between a choice and the sum that it is taken from."""
    return search.moves(node) or is_one_of(node, *_TAKEN)


def _least_rank(search: Search, name: str) -> int:
    """The smallest number that ranks are compared with, which is subtracted from them."""
    compared = search.computed_by(name)
    if compared is None or not is_one_of(compared, "Add", "Gemm"):
        return 0
    shift = search.constant(compared.input[-1])
    return 0 if shift is None else max(0, -int(shift.values.max()))
