"""Drop dead nodes, on which no output depends, and initializers that no node reads."""

from neat_onnx.model import Graph, Model
from neat_onnx.model.wiring import Wiring


def without_dead(model: Model) -> Model:
    """The model without nodes and initializers that contribute to no output.

    It is the model itself where all do.
    """
    graph = drop_dead(model.graph)
    return model if graph is model.graph else model.model_copy(update={"graph": graph})


def drop_dead(graph: Graph) -> Graph:
    """The graph without nodes and initializers that contribute to no graph output; itself where
    all do.

    The nodes may stand in any order. Inputs stay with their defaults, read or not: they are the
    caller's.
    """
    wiring = Wiring(graph)
    alive = wiring.contributing
    inputs = (entry.name for entry in graph.inputs)
    read = wiring.wanted.union(inputs, *(wiring.reads[at] for at in alive))
    nodes = [node for at, node in enumerate(graph.node) if at in alive]
    tensors = [tensor for tensor in graph.initializer if tensor.name in read]
    if len(nodes) == len(graph.node) and len(tensors) == len(graph.initializer):
        return graph
    return graph.model_copy(update={"node": nodes, "initializer": tensors})
