"""TopK: elements chosen by an order, or their places."""

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.short_form.larger_operators.search import Found, Search, moves

_BETWEEN = ("Cast", "Concat", "Mul")  # a chooser and the comparisons of an order


def order(search: Search, chooser: Node) -> Found | None:
    """The first elements of an order, or the places of these."""
    way = search.before(chooser.output[0])
    next(way)
    while (node := next(way, None)) is not None and (moves(node) or is_one_of(node, *_BETWEEN)):
        pass
    if node is None or not is_one_of(node, "Equal", "Hardmax"):
        return None
    end, turned = search.end(chooser.output[0])
    source = _first(search, [node, *way])
    if source is None:
        return None
    for name in search.shapes_of(source):
        sizes = _sizes(search, name, end, turned=turned)
        if sizes is not None:
            are_places = is_one_of(chooser, "MatMul", "Gemm")
            are_places = are_places and chooser.input[1] in search.draft.tensors
            return end, _taken(search, name, sizes, end, places=are_places)
    return None


def _taken(
    search: Search, source: str, sizes: tuple[int, int], end: str, *, places: bool
) -> list[Node]:
    """Nodes that make a tensor by the TopK of another one, which may stand there already."""
    axis, count = sizes
    names, nodes = search.orders.get((source, axis, count)), list[Node]()
    if names is None:
        names = search.draft.name("top"), search.draft.name("places")
        search.orders[source, axis, count] = names
        reads = [source, search.draft.constant("count", [count])]
        attributes = {"axis": axis, "largest": int(search.largest)}
        nodes.append(search.node("TopK", reads, [*names], **attributes))
    if places:
        return [*nodes, search.cast(names[1], end, source)]
    return [*nodes, search.node("Identity", [names[0]], [end])]


def _first(search: Search, way: list[Node]) -> str | None:
    """The elements that are put into an order, at the beginning of the way to a choice."""
    if is_one_of(way[0], "Hardmax"):
        ordered = [node for node in way if is_one_of(node, "Hardmax")][-1]
        way = [node for node in search.before(ordered.input[0]) if not moves(node)]
        scaled = way and is_one_of(way[0], "Mul") and search.is_number(way[0].input[1])
        return way[0].input[0] if scaled else ordered.input[0]
    for k, node in enumerate(way[:-1]):
        if is_one_of(node, "LessOrEqual", "GreaterOrEqual"):
            after = next((each for each in way[k + 1 :] if not moves(each)), None)
            copied = after is not None and is_one_of(after, "Gemm", "MatMul")
            return after.input[0] if after is not None and copied else None
    return None


def _sizes(search: Search, source: str, end: str, *, turned: bool) -> tuple[int, int] | None:
    """The axis along which one tensor has elements of another, and how many."""
    whole, part = (search.draft.facts(name).shape for name in (source, end))
    if whole is None or part is None or len(whole) != len(part):
        return None
    axes = [axis for axis in range(1, len(whole)) if whole[axis] != part[axis]]
    axes = axes or [1 if turned else len(whole) - 1]
    count = part[axes[0]]
    return (axes[0], count) if len(axes) == 1 and isinstance(count, int) else None
