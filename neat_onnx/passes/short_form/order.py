"""Nodes in the order in which some tensors are needed."""

from collections.abc import Iterable

from neat_onnx.model import Model, Node
from neat_onnx.model.wiring import producers
from neat_onnx.passes.draft import with_graph


def in_order_of(model: Model, tensors: Iterable[str]) -> Model:
    """The model whose nodes stand right behind the nodes that they read, tensor by tensor.

    Args:
        model: no graphs inside of nodes; each node is needed by an output.
        tensors: names, the first of them made first; the outputs follow.
    """
    made = producers(model.graph)
    nodes: dict[int, Node] = {}
    wanted = [*tensors, *(entry.name for entry in model.graph.outputs)]
    waiting = [made[name] for name in wanted[::-1] if name in made]
    while waiting:
        node = waiting[-1]
        reads = [made[name] for name in node.input if name in made]
        missing = [each for each in reads if id(each) not in nodes]
        if missing:
            waiting += missing[::-1]
        else:
            nodes[id(waiting.pop())] = node
    return with_graph(model, node=[*nodes.values()])
