"""Remove pairs of Transpose that undo each other across elementwise nodes, and double Reshapes."""

from neat_onnx.model import Model, Node
from neat_onnx.passes.draft import (
    Draft,
    copied,
    is_one_of,
    with_inputs,
)
from neat_onnx.passes.elementwise import is_function_of_one


def transpose_pairs(model: Model) -> Model:
    """The model without Transposes whose effect a later Transpose undoes.

    Between the two stand only nodes that treat each element alike, each read by the next alone.
    Two that follow each other directly are an Identity.
    """
    draft, nodes = Draft(model), model.graph.node
    changed: dict[int, Node | None] = {}
    for at, first in enumerate(nodes):
        if not is_one_of(first, "Transpose") or "perm" not in first.given_attributes:
            continue
        path = _path(draft, at)
        if path is None or not changed.keys().isdisjoint((at, *path)):
            continue  # a Transpose that ends one pair and begins another is left to the next round
        *between, last = path
        before, after = first.input[0], list(nodes[last].output)
        changed |= {at: None, last: None}
        if not between:
            changed[last] = draft.node("Identity", [before], after)
            continue
        head, end = between[0], between[-1]
        changed[head] = with_inputs(nodes[head], [before, *nodes[head].input[1:]])
        changed[end] = copied(changed.get(end) or nodes[end], output=after)
    return draft.replaced(changed)


def _path(draft: Draft, at: int) -> list[int] | None:
    """The positions of the nodes after a Transpose, up to the one that undoes it."""
    nodes = draft.model.graph.node
    perm = nodes[at].given_attributes["perm"]
    path: list[int] = []
    step = draft.sole_reader(nodes[at].output[0])
    while step is not None:
        node = nodes[step]
        path.append(step)
        if is_one_of(node, "Transpose"):
            back = node.given_attributes.get("perm", ())
            axes = list(range(len(perm)))
            undone = sorted(back) == axes and [perm[axis] for axis in back] == axes
            return path if undone else None
        if not is_function_of_one(node):
            return None
        step = draft.sole_reader(node.output[0])
    return None


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
