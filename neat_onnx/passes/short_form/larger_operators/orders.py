"""TopK: elements chosen by an order, their places, or rows of a table at these places."""

from collections.abc import Sequence

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.short_form.larger_operators.search import Found, Search

_BETWEEN = ("Cast", "Concat", "Mul")  # a chooser and the comparisons of an order
_DIFFERENCES = ("Sub", "ReduceSum", "Mul")  # of pairs of elements


def order(search: Search, chooser: Node) -> Found | None:
    """The first elements of an order, or the places of these."""
    way = search.before(chooser.output[0])
    next(way)
    while (node := next(way, None)) is not None and (
        search.moves(node) or is_one_of(node, *_BETWEEN)
    ):
        pass
    if node is None or not is_one_of(node, "Equal", "Hardmax"):
        return None
    table = chooser.input[1] if is_one_of(chooser, "MatMul", "Gemm") else ""
    table = table if table in search.draft.tensors else ""
    rows = is_one_of(chooser, "MatMul") and table != "" and not search.are_places(table)
    end, turned = (chooser.output[0], False) if rows else search.end(chooser.output[0])
    part, source = search.draft.facts(end).shape, _first(search, [node, *way])
    if source is None or part is None:
        return None
    for name in search.shapes_of(source):
        sizes = _sizes(search, name, part[:-1] if rows else part, turned=turned)
        if sizes is not None:
            (values, places), nodes = _ordered(search, name, *sizes)
            if rows:
                return end, [*nodes, search.node("Gather", [table, places], [end], axis=0)]
            if table:
                return end, [*nodes, search.cast(places, end, name)]
            return end, [*nodes, search.node("Identity", [values], [end])]
    return None


def _ordered(
    search: Search, source: str, axis: int, count: int
) -> tuple[tuple[str, str], list[Node]]:
    """The elements and the places of the TopK of a tensor, and the node if it is a new one."""
    if (source, axis, count) in search.orders:
        return search.orders[source, axis, count], []
    names = search.draft.name("top"), search.draft.name("places")
    search.orders[source, axis, count] = names
    reads = [source, search.draft.constant("count", [count])]
    attributes = {"axis": axis, "largest": int(search.largest)}
    return names, [search.node("TopK", reads, [*names], **attributes)]


def _first(search: Search, way: list[Node]) -> str | None:
    """The elements that are put into an order, at the beginning of the way to a choice."""
    if is_one_of(way[0], "Hardmax"):
        ordered = [node for node in way if is_one_of(node, "Hardmax")][-1]
        way = [node for node in search.before(ordered.input[0]) if not search.moves(node)]
        return search.rearranged(way[0].output[0]) if way else ordered.input[0]
    for k, node in enumerate(way[:-1]):
        if is_one_of(node, "LessOrEqual", "GreaterOrEqual"):
            rest = (each for each in way[k + 1 :] if not search.moves(each))
            after = next((each for each in rest if not is_one_of(each, *_DIFFERENCES)), None)
            copied = after is not None and is_one_of(after, "Gemm", "MatMul", "Gather")
            return after.input[0] if after is not None and copied else None
    return None


def _sizes(
    search: Search, source: str, part: Sequence[object], *, turned: bool
) -> tuple[int, int] | None:
    """The axis along which a shape has elements of a tensor, and how many."""
    whole = search.draft.facts(source).shape
    if whole is None or len(whole) != len(part):
        return None
    axes = [axis for axis in range(1, len(whole)) if whole[axis] != part[axis]]
    axes = axes or [1 if turned else len(whole) - 1]
    count = part[axes[0]]
    return (axes[0], count) if len(axes) == 1 and isinstance(count, int) else None
