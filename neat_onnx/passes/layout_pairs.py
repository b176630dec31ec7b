"""Remove pairs of Transpose that undo each other across elementwise nodes, and double Reshapes."""

from typing import NamedTuple

from neat_onnx.model import Model, Node
from neat_onnx.model.draft import Draft, is_one_of, renamed, with_inputs
from neat_onnx.model.rounding import ELEMENTWISE


def transpose_pairs(model: Model) -> Model:
    """The model without Transposes whose effect a later Transpose undoes.

    Between the two stand only nodes that treat each element alike, each read by the next alone, and
    other such pairs. Two that follow each other directly are an Identity.
    """
    draft, nodes = Draft(model), model.graph.node
    changed: dict[int, Node | None] = {}
    names: dict[str, str] = {}
    not_undone: dict[str, _Open] = {}
    for at, node in enumerate(nodes):
        read = node.input[0] if node.input else ""
        before = not_undone.get(read) if draft.sole_reader(read) == at else None
        if not is_one_of(node, "Transpose") or "perm" not in node.given_attributes:
            if before is not None and _is_function_of_one(node):
                not_undone[node.output[0]] = before
            continue
        first = None if before is None else nodes[before.at]
        if before is None or first is None or not _undoes(node, first):
            not_undone[node.output[0]] = _Open(at, before)
            continue
        changed |= {before.at: None, at: None}
        names[first.output[0]] = first.input[0]
        if before.around is not None:
            not_undone[node.output[0]] = before.around
        if read == first.output[0]:
            changed[at] = draft.node("Identity", [read], node.output)
        else:
            names[read] = node.output[0]
    return draft.replaced(changed | _renamed_nodes(nodes, changed, names))


class _Open(NamedTuple):
    """The position of a Transpose that nothing has undone yet, and the one around it."""

    at: int
    around: "_Open | None"


def _undoes(node: Node, first: Node) -> bool:
    """Whether a Transpose has the inverse permutation of another."""
    perm, back = first.given_attributes["perm"], node.given_attributes["perm"]
    axes = list(range(len(perm)))
    return sorted(back) == axes and [perm[axis] for axis in back] == axes


def _renamed_nodes(
    nodes: list[Node], changed: dict[int, Node | None], names: dict[str, str]
) -> dict[int, Node | None]:
    """The nodes that read or give tensors which have other names now, by their positions."""
    last: dict[str, str] = {}
    for name in names:
        steps = [name]
        while (following := names.get(steps[-1])) is not None and steps[-1] not in last:
            steps.append(following)
        last |= dict.fromkeys(steps[:-1], last.get(steps[-1], steps[-1]))
    found = {at: changed.get(at, node) for at, node in enumerate(nodes)} if names else {}
    return {
        at: renamed(node, last)
        for at, node in found.items()
        if node is not None and not last.keys().isdisjoint((*node.input, *node.output))
    }


def double_reshapes(model: Model) -> Model:
    """The model with one Reshape where one alone reads another, and copies no size from it."""
    draft, nodes = Draft(model), list(model.graph.node)
    changed: dict[int, Node | None] = {}
    for at, first in enumerate(nodes):
        reader = draft.sole_reader(first.output[0]) if is_one_of(first, "Reshape") else None
        second = nodes[reader] if reader is not None else None
        if second is None or reader is None or not is_one_of(second, "Reshape"):
            continue
        shape = draft.tensors.get(second.input[1])
        if second.input[0] == first.output[0] and shape is not None and shape.values.all():
            nodes[reader] = with_inputs(second, [first.input[0], second.input[1]])
            changed |= {at: None, reader: nodes[reader]}
    return draft.replaced(changed)


def _is_function_of_one(node: Node) -> bool:
    """Whether a node makes each element of one element of its only input."""
    return len(node.input) == 1 and is_one_of(node, *ELEMENTWISE)
