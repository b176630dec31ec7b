"""If by a computed condition: the nodes of both branches, and Where between their results.

This is for import, whose neurons all compute; a runtime would compute both branches for one.
"""

from dataclasses import dataclass

from neat_onnx.model import Graph, Model, Node
from neat_onnx.model.budget import Budget
from neat_onnx.model.wiring import reads
from neat_onnx.passes.draft import Draft, attributes_of, is_one_of, make_node
from neat_onnx.passes.splice import splice

_BRANCHES = ("then_branch", "else_branch")
_SIZES = ("Shape", "Size")
_MOST_ROUNDS = 8  # in each, some that stay make others stay, which read them


def computed_branches(model: Model) -> Model:
    """The model with both branches of each If whose condition is computed from the inputs' values.

    One stays whose results have different shapes, or shapes that are not known.
    """
    chosen = [at for at in _decided_by_inputs(model.graph) if _has_branches(model.graph.node[at])]
    for _ in range(_MOST_ROUNDS):
        if not chosen:
            break
        choices = _Choices(model, Draft(model))
        for at in chosen:
            choices.add(at)
        result = choices.finished()
        draft = Draft(result)
        differ = {at for at, one, other in choices.results if not _are_alike(draft, one, other)}
        if not differ:
            return result
        chosen = [at for at in chosen if at not in differ]
    return model


def _decided_by_inputs(graph: Graph) -> list[int]:
    """The positions of the Ifs whose condition depends on more of the inputs than their shapes."""
    if not any(is_one_of(node, "If") for node in graph.node):
        return []
    computed, found = {entry.name for entry in graph.inputs}, list[int]()
    for at, node in enumerate(graph.node):
        if is_one_of(node, "If") and node.input[0] in computed:
            found.append(at)
        if not is_one_of(node, *_SIZES) and not computed.isdisjoint(reads(node)):
            computed.update(node.output)
    return found


def _has_branches(node: Node) -> bool:
    """Whether a node has two branches that give its outputs."""
    branches = [attributes_of(node).get(name) for name in _BRANCHES]
    return all(
        isinstance(each, Graph) and len(each.outputs) == len(node.output) for each in branches
    )


def _are_alike(draft: Draft, one: str, other: str) -> bool:
    """Whether two tensors have one type, and one shape that is known."""
    facts = draft.facts(one)
    shape = facts.shape
    return facts == draft.facts(other) and shape is not None and None not in shape


@dataclass
class _Choices:
    """A model whose Ifs become choices.

    Attributes:
        model: the model as it was.
        draft: the one that replaces it.
        results: of each choice, the position of the If, and the two tensors.
    """

    model: Model
    draft: Draft

    def __post_init__(self) -> None:
        self._nodes: dict[int, list[Node]] = {}
        self._budget = Budget()
        self.results: list[tuple[int, str, str]] = []

    def add(self, at: int) -> None:
        """Put the choices between the results of both branches in place of the If at a position."""
        node, draft, opset = self.model.graph.node[at], self.draft, self.model.opset
        nodes, ends = list[Node](), list[list[str]]()
        for branch in _BRANCHES:
            graph: Graph = attributes_of(node)[branch]
            self._budget.take("nodes", len(graph.node), node.label)
            ends.append([draft.name(f"{name}_{branch}") for name in node.output])
            nodes += splice(draft, graph, {}, ends[-1])
        truth = draft.name(f"{node.output[0]}_condition")
        shape = draft.constant(f"{node.output[0]}_shape", [])
        nodes.append(make_node("Reshape", [node.input[0], shape], [truth], opset=opset))
        for name, one, other in zip(node.output, *ends, strict=True):
            nodes.append(make_node("Where", [truth, one, other], [name], opset=opset))
            self.results.append((at, one, other))
        self._nodes[at] = nodes

    def finished(self) -> Model:
        """The model with the choices."""
        return self.draft.finished(
            [
                each
                for at, node in enumerate(self.model.graph.node)
                for each in self._nodes.get(at, [node])
            ]
        )
