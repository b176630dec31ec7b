"""Nodes in the order in which some tensors are needed."""

from collections.abc import Iterable

from neat_onnx.model import Model
from neat_onnx.model.order import in_order
from neat_onnx.passes.draft import with_graph


def in_order_of(model: Model, tensors: Iterable[str]) -> Model:
    """The model whose nodes stand right behind the nodes that they read, tensor by tensor.

    Args:
        model: no graphs inside of nodes; each node is needed by an output.
        tensors: names, the first of them made first; the outputs follow.
    """
    nodes = model.graph.node
    made = {name: at for at, node in enumerate(nodes) for name in node.output if name}

    def makers(names: Iterable[str]) -> list[int]:
        return [made[name] for name in names if name in made]

    wanted = makers([*tensors, *(entry.name for entry in model.graph.outputs)])
    order = in_order(wanted, lambda at: makers(nodes[at].input)) or []
    return with_graph(model, node=[nodes[at] for at in order])
