"""An If whose branches give lists of one length gives their tensors, which a list is made of then.

This is for import, which chooses between tensors.
"""

from collections.abc import Mapping

from neat_onnx.model import Graph, Model, Node, ValueInfo
from neat_onnx.model.wiring import producers
from neat_onnx.model.draft import Draft, copied, is_one_of

_BRANCHES = ("then_branch", "else_branch")


def sequence_branches(model: Model) -> Model:
    """The model with Ifs that give tensors in place of lists."""
    draft = Draft(model)
    return draft.rewritten(lambda node: _of_tensors(draft, node) if is_one_of(node, "If") else None)


def _of_tensors(draft: Draft, node: Node) -> list[Node] | None:
    """The If, and the lists that it gave; None where no list of its is known in both branches."""
    branches = [node.given_attributes.get(name) for name in _BRANCHES]
    graphs = [each for each in branches if isinstance(each, Graph)]
    if len(graphs) < 2 or any(len(each.outputs) != len(node.output) for each in graphs):
        return None
    made = [{**draft.producers, **producers(graph)} for graph in graphs]
    ends: list[list[tuple[str, ValueInfo]]] = [[], []]
    results, lists = list[str](), list[Node]()
    for position, name in enumerate(node.output):
        entries = [graph.outputs[position] for graph in graphs]
        found = [_items(each, entry.name) for each, entry in zip(made, entries, strict=True)]
        one, other = found
        if not one or other is None or len(one) != len(other):
            for end, entry in zip(ends, entries, strict=True):
                end.append((entry.name, entry))
            results.append(name)
            continue
        items = [draft.name(f"{name}_item") for _ in one]
        for end, each, entry in zip(ends, found, entries, strict=True):
            end += [(item, ValueInfo.of(item, entry.elem_type)) for item in each or ()]
        results += items
        lists.append(draft.node("SequenceConstruct", items, [name]))
    if not lists:
        return None
    given = {
        name: _giving(draft, graph, end)
        for name, graph, end in zip(_BRANCHES, graphs, ends, strict=True)
    }
    return [draft.node("If", node.input, results, name=node.name, **given), *lists]


def _items(made: Mapping[str, Node], name: str) -> list[str] | None:
    """The tensors that a list is made of; None where that is not known."""
    inserted: list[str] = []
    for _ in range(len(made) + 1):
        node = made.get(name)
        if node is None or not node.input:
            break
        if is_one_of(node, "SequenceConstruct"):
            return [*node.input, *inserted]
        if is_one_of(node, "SequenceInsert") and not any(node.input[2:]):
            inserted.insert(0, node.input[1])
        elif not is_one_of(node, "Identity"):
            return None
        name = node.input[0]
    node = made.get(name)
    return inserted if node is not None and is_one_of(node, "SequenceEmpty") else None


def _giving(draft: Draft, graph: Graph, ends: list[tuple[str, ValueInfo]]) -> Graph:
    """The branch with these tensors as outputs, each by a name of its own."""
    names = [draft.name(f"{name}_given") for name, _ in ends]
    pairs = list(zip(ends, names, strict=True))
    nodes = [draft.node("Identity", [source], [name]) for (source, _), name in pairs]
    outputs = [copied(entry, name=name) for (_, entry), name in pairs]
    return copied(graph, outputs=outputs, node=[*graph.node, *nodes])
