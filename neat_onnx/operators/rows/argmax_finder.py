"""ArgMax and ArgMin: places 0, 1, … weighed by a choice of the first extreme, or one of these in
other axes than the tensor that it reads has.
"""

from typing import Any

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.search import Found, Search


def find_argmax(search: Search, chooser: Node) -> Found | None:
    """The place of the largest or the smallest element along an axis."""
    if not search.are_indices(chooser.input[1]):
        return None
    way = search.before(chooser.output[0])
    while (node := next(way, None)) is not None and _is_between(search, node):
        pass
    least = search.made.get(node.input[0]) if node and is_one_of(node, "Equal") else None
    if least is None:
        return None
    return _place(search, ("ArgMin", "ArgMax")[search.largest], least.input[0], chooser.output[0])


def find_argmax_in_axes(search: Search, cast: Node) -> Found | None:
    """The place along an axis of a tensor that was turned, or got other axes, for it."""
    reduced = search.draft.maker(cast.input[0], "ArgMax", "ArgMin")
    if reduced is None or search.kind(cast.output[0]).is_discrete:
        return None
    last = int(reduced.given_attributes.get("select_last_index", 0))
    return _place(search, reduced.op_type, reduced.input[0], cast.output[0], last)


def _place(search: Search, operator: str, source: str, number: str, last: int = 0) -> Found | None:
    """The place along an axis of a tensor that `source` is another shape of, of the first of equal
    elements or the last.
    """
    end, _ = search.end(number)
    for name in [*search.shapes_of(source)][::-1]:  # the first has the model's order
        found = _reduced(search, name, end)
        if found is not None:
            axis, kept = found
            places = search.draft.name("places")
            which: dict[str, Any] = {"select_last_index": last} if last else {}
            node = search.draft.node(operator, [name], [places], axis=axis, keepdims=kept, **which)
            return end, [node, search.cast(places, end, name)]
    return None


def _is_between(search: Search, node: Node) -> bool:
    """Whether a node may stand between the choice of one of equal extremes and their comparison."""
    return search.moves(node) or is_one_of(node, "Cast", "Conv", "Greater")


def _reduced(search: Search, source: str, end: str) -> tuple[int, int] | None:
    """The axis along which a tensor is reduced to another one, and whether it stays, as 1."""
    whole, part = (search.draft.facts(name).shape for name in (source, end))
    if whole is None:
        return None
    for axis in range(1, len(whole)):
        before, behind = whole[:axis], whole[axis + 1 :]
        if part in {(*before, *behind), (*before, 1, *behind)}:
            return axis, len(part) - len(before) - len(behind)
    return None
