"""If by a computed condition: the nodes of both branches, and Where between their results.

This is for import, whose neurons all compute; a runtime would compute both branches for one.
"""

from functools import partial

from neat_onnx.model import Graph, Model, Node
from neat_onnx.model.budget import Budget
from neat_onnx.model.wiring import reads
from neat_onnx.model.draft import Draft, is_one_of, with_replaced
from neat_onnx.model.splice import splice

_BRANCHES = ("then_branch", "else_branch")
_SIZES = ("Shape", "Size")
_MAX_ROUNDS = 8  # in each, some that stay make others stay, which read them


def computed_branches(model: Model) -> Model:
    """The model with both branches of each If whose condition is computed from the inputs' values.

    One stays whose results have different shapes, or shapes that are not known.
    """
    chosen = {id(node): node for node in _decided_by_inputs(model.graph)}

    def choice(node: Node, draft: Draft, budget: Budget) -> list[Node] | None:
        return _choice(node, draft, budget) if id(node) in chosen else None

    for _ in range(_MAX_ROUNDS):
        result = with_replaced(model, "If", partial(choice, budget=Budget()))
        draft = Draft(result)
        differ = [key for key, node in chosen.items() if not _are_all_alike(draft, node)]
        if not differ:
            return result
        for key in differ:
            del chosen[key]
    return model


def _decided_by_inputs(graph: Graph) -> list[Node]:
    """The Ifs whose condition depends on more of the inputs than their shapes."""
    if not any(is_one_of(node, "If") for node in graph.node):
        return []
    computed, found = {entry.name for entry in graph.inputs}, list[Node]()
    for node in graph.node:
        if is_one_of(node, "If") and node.input[0] in computed and _has_branches(node):
            found.append(node)
        if not is_one_of(node, *_SIZES) and not computed.isdisjoint(reads(node)):
            computed.update(node.output)
    return found


def _has_branches(node: Node) -> bool:
    """Whether a node has two branches that give its outputs."""
    branches = [node.given_attributes.get(name) for name in _BRANCHES]
    return all(
        isinstance(each, Graph) and len(each.outputs) == len(node.output) for each in branches
    )


def _choice(node: Node, draft: Draft, budget: Budget) -> list[Node]:
    """The nodes of both branches, and choices between their results."""
    nodes, results = list[Node](), list[list[str]]()
    for branch in _BRANCHES:
        graph: Graph = node.given_attributes[branch]
        budget.take("nodes", len(graph.node), node.label)
        results.append([draft.name(f"{name}_{branch}") for name in node.output])
        nodes += splice(draft, graph, {}, results[-1])
    truth = draft.name(f"{node.output[0]}_condition")
    shape = draft.constant(f"{node.output[0]}_shape", [])
    nodes.append(draft.node("Reshape", [node.input[0], shape], [truth]))
    nodes += [
        draft.node("Where", [truth, one, other], [name])
        for name, one, other in zip(node.output, *results, strict=True)
    ]
    return nodes


def _are_all_alike(draft: Draft, node: Node) -> bool:
    """Whether both results of each choice in place of an If have one type and one known shape."""
    for name in filter(None, node.output):
        one, other = map(draft.facts, draft.producers[name].input[1:])
        if one != other or one.shape is None or None in one.shape:
            return False
    return True
