"""If of a constant condition becomes its branch, Loop of a constant trip count its iterations."""

from collections.abc import Callable

from neat_onnx.model import DataType, Graph, Model, Node
from neat_onnx.model.budget import Budget
from neat_onnx.passes.draft import Draft, attributes_of
from neat_onnx.passes.splice import splice


def constant_branches(model: Model, budget: Budget | None = None) -> Model:
    """The model with each If whose condition is an initializer replaced by the branch it takes."""
    return _unfolded(model, "If", _branch, budget or Budget())


def constant_loops(model: Model, budget: Budget | None = None) -> Model:
    """The model with each Loop whose trip count is an initializer unrolled.

    The condition has to be constantly true, and no outputs are collected over the iterations.

    Raises:
        ModelError: there would be too many nodes.
    """
    return _unfolded(model, "Loop", _iterations, budget or Budget())


Unfold = Callable[[Node, Draft, Budget], list[Node] | None]


def _unfolded(model: Model, op_type: str, unfold: Unfold, budget: Budget) -> Model:
    if not any(node.op_type == op_type for node in model.graph.node):
        return model
    draft, changed = Draft(model), False
    for node in model.graph.node:
        nodes = unfold(node, draft, budget) if node.op_type == op_type else None
        changed = changed or nodes is not None
        draft.nodes += [node] if nodes is None else nodes
    return draft.finished() if changed else model


def _branch(node: Node, draft: Draft, budget: Budget) -> list[Node] | None:
    condition = draft.tensors.get(node.input[0]) if node.input else None
    if condition is None or condition.size != 1:
        return None
    graph = attributes_of(node).get("then_branch" if condition.values.item() else "else_branch")
    if not isinstance(graph, Graph):
        return None
    budget.take("nodes", len(graph.node), node.label)
    return splice(draft, graph, {}, node.output)


def _iterations(node: Node, draft: Draft, budget: Budget) -> list[Node] | None:
    body, carried = attributes_of(node).get("body"), node.input[2:]
    if not isinstance(body, Graph) or not _fits(node, body):
        return None
    count = _trip_count(node, draft, body)
    if count is None:
        return None
    budget.take("nodes", (len(body.node) + 1) * count, node.label)
    nodes: list[Node] = []
    for step in range(count):
        number = draft.constant(f"{node.output[0]}_step", step)
        entries = (entry.name for entry in body.inputs)
        condition = node.input[1] or draft.constant(f"{node.output[0]}_true", True, DataType.BOOL)
        given = dict(zip(entries, [number, condition, *carried], strict=True))
        last = step == count - 1
        carried = [
            name if last and name else draft.name(f"{node.output[0]}_carried")
            for name in (*node.output, *[""] * (len(carried) - len(node.output)))
        ]
        nodes += splice(draft, body, given, ["", *carried])
    return nodes


def _fits(node: Node, body: Graph) -> bool:
    """Whether a loop carries everything that it reads and gives, and nothing else."""
    reads = len(node.input)
    return reads >= 2 and len(body.inputs) == reads and len(body.outputs) == reads - 1


def _trip_count(node: Node, draft: Draft, body: Graph) -> int | None:
    """How often a loop runs; None if only running it tells."""
    limit = draft.tensors.get(node.input[0]) if node.input[0] else None
    start = draft.tensors.get(node.input[1])
    starts = not node.input[1] or (start is not None and start.values.all())
    if limit is None or limit.size != 1 or not starts:
        return None
    count = int(limit.values.item())
    return count if count > 0 and _stays_true(body) else None


def _stays_true(body: Graph) -> bool:
    """Whether the condition that a loop's body gives is the one that it got, or constantly true."""
    name = body.outputs[0].name
    producers = {output: node for node in body.node for output in node.output}
    for _ in body.node:  # a body that is wired in a circle ends too
        if name in producers and producers[name].op_type in ("Identity", "Cast"):
            name = next(iter(producers[name].input), "")
    if name == body.inputs[1].name:
        return True
    constant = body.tensors.get(name)
    if constant is None and name in producers and producers[name].op_type == "Constant":
        constant = attributes_of(producers[name]).get("value")
    return constant is not None and bool(constant.values.all())
