"""If of a constant condition becomes the nodes of its branch."""

from neat_onnx.model import Graph, Model, Node
from neat_onnx.model.budget import Budget
from neat_onnx.model.draft import Draft, splice


def known_branches(model: Model) -> Model:
    """The model with the branch that is taken in place of each If of a constant condition.

    Raises:
        ModelError: there would be too many nodes.
    """
    if not any(node.op_type == "If" for node in model.graph.node):
        return model
    draft, budget = Draft(model), Budget()

    def taken(node: Node) -> list[Node] | None:
        graph = _branch(node, draft)
        if graph is None:
            return None
        budget.take("nodes", len(graph.node), node.label)
        return splice(draft, graph, {}, node.output)

    return draft.rewritten(taken)


def _branch(node: Node, draft: Draft) -> Graph | None:
    condition = draft.tensors.get(node.input[0]) if node.op_type == "If" else None
    if node.domain or condition is None or condition.size != 1:
        return None
    graph = node.given_attributes.get("then_branch" if condition.values.item() else "else_branch")
    fits = isinstance(graph, Graph) and len(graph.outputs) == len(node.output)
    return graph if fits else None
