"""Drop dead nodes, on which no output depends, and initializers that no node reads."""

from neat_onnx.model import Graph
from neat_onnx.model.wiring import Wiring


def drop_dead(graph: Graph) -> Graph:
    """The graph without nodes and initializers that contribute to no graph output.

    The nodes may stand in any order. Inputs stay, read or not: they are the caller's.
    """
    wiring = Wiring(graph)
    alive = wiring.contributing
    read = wiring.wanted.union(*(wiring.reads[at] for at in alive))
    return graph.model_copy(
        update={
            "node": [node for at, node in enumerate(graph.node) if at in alive],
            "initializer": [tensor for tensor in graph.initializer if tensor.name in read],
        }
    )
